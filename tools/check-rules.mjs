#!/usr/bin/env node
/**
 * Compares the rules of the product (test/rules/rules.json) with the tests that cite them.
 *
 * A test cites a rule by its id in square brackets in the title of an `it`, `test` or `describe`:
 *
 *   it('refuses an edge from a node to itself [graph.edges.no-self-loop]', …)
 *   it('… [graph.edges.unique, errors.edge-exists]', …)
 *   it.each([{ rule: 'graph.lifecycle.area', … }])('… [$rule]', …)
 *
 * Titles are read from the syntax tree, so an id in a comment or in any other string is no citation.
 * A skipped, todo or expected-to-fail test cites nothing.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import swc from '@swc/core';

const HELP = `Usage: node tools/check-rules.mjs [--strict] [--json] [--root DIR]

Reads test/rules/rules.json and test/rules/milestones.json and searches for the
rule ids that the titles of tests cite (*.spec.ts, *.suite.ts, *conformance*.ts
and the files of folders named conformance).

  --strict    an uncited rule of a reached milestone is a failure
  --json      print the report as one JSON document
  --root DIR  the repository to check (default: this one)
  --help      print this text

Exit code: 0 no problem; 1 an invalid rules file, a cited id that does not
exist or, with --strict, an uncited rule; 2 wrong usage.
`;

const MILESTONES = ['foundation', 'mirrors', 'sessions', 'sync', 'desktop', 'runners'];
const SOURCES = ['spec', 'decisions', 'issue'];
const FIELDS = ['id', 'part', 'source', 'text', 'since'];
const AREAS = [
  'graph',
  'access',
  'events',
  'identity',
  'errors',
  'edge',
  'mcp',
  'bus',
  'config',
  'cli',
  'sessions',
  'ws',
  'files',
  'mirrors',
  'watcher',
  'sync',
  'remotes',
  'terminals',
  'desktop',
  'limits',
];
const ID = /^[a-z][a-z0-9]*(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+$/;
const TEXT_MAX_CHARACTERS = 240;
const SPEC_FILES = ['**/*.spec.{ts,tsx}', '**/*.suite.ts', '**/*conformance*.ts', '**/conformance/**/*.ts'];
const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', 'coverage', 'generated']);
/** Stands for an id that a table row carries in its property `rule`. */
const RULE_OF_ROW = '$rule';

// ---- the rules file

/** The problems of one rule, as texts; empty when it is sound. */
function problemsOfRule(rule, index) {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) return [`rule ${index} is not an object`];
  const name = `rule ${index} (${rule.id ?? 'without id'})`;
  const missing = FIELDS.filter((field) => typeof rule[field] !== 'string' || rule[field].trim() === '');
  const foreign = Object.keys(rule).filter((field) => !FIELDS.includes(field));
  if (missing.length + foreign.length > 0) {
    return [
      ...missing.map((field) => `${name}: "${field}" must be a non-empty text`),
      ...foreign.map((field) => `${name}: unknown field "${field}"`),
    ];
  }
  const checks = [
    [ID.test(rule.id), 'the id must be kebab-case parts joined by dots'],
    [AREAS.includes(rule.id.split('.')[0]), `the id must begin with one of ${AREAS.join(', ')}`],
    [/^[1-9]$/.test(rule.part), 'the part must be a number from 1 to 9'],
    [SOURCES.includes(rule.source), `the source must be one of ${SOURCES.join(', ')}`],
    [MILESTONES.includes(rule.since), `since must be one of ${MILESTONES.join(', ')}`],
    [rule.text.endsWith('.'), 'the text must be a sentence that ends with a full stop'],
    [rule.text.length <= TEXT_MAX_CHARACTERS, `the text is longer than ${TEXT_MAX_CHARACTERS} characters`],
  ];
  return checks.filter(([holds]) => !holds).map(([, text]) => `${name}: ${text}`);
}

function problemsOfRules(rules) {
  if (!Array.isArray(rules)) return ['rules.json must hold an array'];
  const seen = new Set();
  const twice = [];
  for (const rule of rules) {
    if (seen.has(rule?.id)) twice.push(`the id ${rule.id} occurs more than once`);
    seen.add(rule?.id);
  }
  return [...rules.flatMap(problemsOfRule), ...twice];
}

function problemsOfMilestones(reached) {
  if (!Array.isArray(reached)) return ['milestones.json must hold an array'];
  return reached
    .filter((milestone) => !MILESTONES.includes(milestone))
    .map((milestone) => `milestones.json names ${JSON.stringify(milestone)}; known are ${MILESTONES.join(', ')}`);
}

// ---- the citations in one test file

/** What a callee does in jest: `{ suite, active }`, or undefined when it is something else. */
function jestCall(callee) {
  switch (callee.type) {
    case 'Identifier': {
      const match = /^([xf]?)(describe|it|test)$/.exec(callee.value);
      return match ? { suite: match[2] === 'describe', active: match[1] !== 'x' } : undefined;
    }
    case 'MemberExpression': {
      const call = jestCall(callee.object);
      if (!call) return undefined;
      return { ...call, active: call.active && !['skip', 'todo', 'failing'].includes(callee.property.value) };
    }
    case 'CallExpression':
      return callee.callee.property?.value === 'each' ? jestCall(callee.callee) : undefined;
    case 'TaggedTemplateExpression':
      return jestCall(callee.tag);
    case 'ParenthesisExpression':
      return jestCall(callee.expression);
    case 'ConditionalExpression': {
      const branches = [jestCall(callee.consequent), jestCall(callee.alternate)];
      return branches.find((call) => call?.active) ?? branches[0];
    }
    default:
      return undefined;
  }
}

/** The text of a title; other expressions in it than a row's `rule` become an ellipsis. */
function titleOf(expression) {
  switch (expression?.type) {
    case 'StringLiteral':
      return expression.value;
    case 'BinaryExpression':
      return `${titleOf(expression.left) ?? '…'}${titleOf(expression.right) ?? '…'}`;
    case 'TemplateLiteral':
      return expression.quasis
        .map((quasi, index) => {
          const inserted = expression.expressions[index];
          if (!inserted) return quasi.cooked;
          const isRule = inserted.value === 'rule' || inserted.property?.value === 'rule';
          return `${quasi.cooked}${isRule ? RULE_OF_ROW : '…'}`;
        })
        .join('');
    default:
      return undefined;
  }
}

function idsInTitle(title, rulesOfRows) {
  const bracketed = [...title.matchAll(/\[([^[\]]+)\]/g)].flatMap((match) => match[1].split(/,\s*/));
  return bracketed.flatMap((text) => {
    if (text === RULE_OF_ROW) return rulesOfRows;
    return ID.test(text) ? [text] : [];
  });
}

function childrenOf(node) {
  return Object.values(node).filter((value) => typeof value === 'object' && value !== null);
}

/** The values of all properties `rule: '…'` of a file: what `[$rule]` in a title stands for. */
function rulesOfRowsIn(node) {
  if (node.type === 'KeyValueProperty' && node.key.value === 'rule') {
    return node.value.type === 'StringLiteral' ? [node.value.value] : [];
  }
  return childrenOf(node).flatMap(rulesOfRowsIn);
}

/**
 * Citations below a node. Those of a suite count once an active test is inside it, so a suite hands
 * its own down to its tests.
 */
function citationsBelow(node, outer, rulesOfRows) {
  const call = node.type === 'CallExpression' ? jestCall(node.callee) : undefined;
  const title = call ? titleOf(node.arguments[0]?.expression) : undefined;
  if (!call || title === undefined) {
    return childrenOf(node).flatMap((child) => citationsBelow(child, outer, rulesOfRows));
  }
  const own = idsInTitle(title, rulesOfRows).map((id) => ({ id, title }));
  const inner = { active: outer.active && call.active, citations: [...outer.citations, ...own] };
  if (call.suite) {
    return node.arguments.slice(1).flatMap((child) => citationsBelow(child, inner, rulesOfRows));
  }
  const active = inner.active && node.arguments.length > 1;
  return inner.citations.map((citation) => ({ ...citation, active }));
}

function parsed(file, source) {
  try {
    return swc.parseSync(source, { syntax: 'typescript', tsx: file.endsWith('x'), decorators: true });
  } catch (cause) {
    throw new Error(`${file} cannot be parsed`, { cause });
  }
}

function citationsOfFile(root, file) {
  const source = readFileSync(join(root, file), 'utf8');
  // Parsing costs more than reading: most files cite nothing.
  if (!/\[(\$|[a-z][a-z0-9-]*\.)/.test(source)) return [];
  const tree = parsed(file, source);
  const rulesOfRows = source.includes(RULE_OF_ROW) || source.includes('rule}') ? rulesOfRowsIn(tree) : [];
  return citationsBelow(tree, { active: true, citations: [] }, rulesOfRows).map((one) => ({ ...one, file }));
}

// ---- the report

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new Error(`${file} cannot be read as JSON: ${cause.message}`, { cause });
  }
}

function testFilesOf(root) {
  const isSkipped = (name) => name.startsWith('.') || SKIPPED_FOLDERS.has(name);
  const exclude = (entry) => isSkipped(typeof entry === 'string' ? entry.split('/').at(-1) : entry.name);
  return [...new Set(SPEC_FILES.flatMap((pattern) => globSync(pattern, { cwd: root, exclude })))].sort();
}

function uniqueBy(items, keyOf) {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}

function countsOf(rules, cited) {
  return Object.fromEntries(
    MILESTONES.map((milestone) => {
      const ofMilestone = rules.filter((rule) => rule.since === milestone);
      return [milestone, { total: ofMilestone.length, cited: ofMilestone.filter((rule) => cited.has(rule.id)).length }];
    }),
  );
}

/** Everything there is to say: `{ problems, milestones, counts, unknown, uncited, inactive }`. */
function report(root) {
  const rules = readJson(join(root, 'test/rules/rules.json'));
  const milestones = readJson(join(root, 'test/rules/milestones.json'));
  const problems = [...problemsOfRules(rules), ...problemsOfMilestones(milestones)];
  if (problems.length > 0) return { problems, milestones, counts: {}, unknown: [], uncited: [], inactive: [] };

  const known = new Set(rules.map((rule) => rule.id));
  const citations = testFilesOf(root).flatMap((file) => citationsOfFile(root, file));
  const cited = new Set(citations.filter((one) => one.active).map((one) => one.id));
  const where = ({ id, file, title }) => ({ id, file, title });
  return {
    problems,
    milestones,
    counts: countsOf(rules, cited),
    unknown: uniqueBy(citations.filter((one) => !known.has(one.id)).map(where), (one) => `${one.id} ${one.file}`),
    uncited: rules
      .filter((rule) => milestones.includes(rule.since) && !cited.has(rule.id))
      .map(({ id, text }) => ({ id, text })),
    inactive: citations.filter((one) => !one.active && known.has(one.id) && !cited.has(one.id)).map(where),
  };
}

function printReport({ problems, milestones, counts, unknown, uncited, inactive }) {
  const section = (heading, lines) => (lines.length > 0 ? ['', heading, ...lines.map((line) => `  ${line}`)] : []);
  const lines = [
    ...Object.entries(counts).map(([milestone, { total, cited }]) => {
      const state = milestones.includes(milestone) ? 'reached' : 'later';
      return `${milestone.padEnd(11)} ${String(cited).padStart(3)} of ${String(total).padStart(3)} rules cited (${state})`;
    }),
    ...section('Problems of the rules file:', problems),
    ...section(
      'Cited, but no such rule:',
      unknown.map((one) => `${one.id} — ${one.file}: ${one.title}`),
    ),
    ...section(
      'Cited only by tests that do not run or must fail:',
      inactive.map((one) => `${one.id} — ${one.file}`),
    ),
    ...section(
      'Not cited by any test:',
      uncited.map((rule) => `${rule.id} — ${rule.text}`),
    ),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function optionsOf(args) {
  try {
    const options = {
      strict: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
      root: { type: 'string' },
    };
    return parseArgs({ args, options }).values;
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${HELP}`);
    return undefined;
  }
}

function main(args) {
  const options = optionsOf(args);
  if (!options) return 2;
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const root = resolve(options.root ?? join(dirname(fileURLToPath(import.meta.url)), '..'));
  const result = report(root);
  if (options.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  else printReport(result);
  const failures = result.problems.length + result.unknown.length + (options.strict ? result.uncited.length : 0);
  return failures > 0 ? 1 : 0;
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`check-rules: ${error.message}\n`);
  process.exitCode = 1;
}
