#!/usr/bin/env node
/**
 * Checks which package imports which (.dependency-cruiser.mjs), finds cycles, and checks which code uses whose tables
 * (.table-owners.mjs). `--root DIR` looks at another tree.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Visitor } from '@swc/core/Visitor.js';
import { cruise } from 'dependency-cruiser';
import config from '../.dependency-cruiser.mjs';
import { findTableViolations } from './table-boundaries.mjs';

// The parser's visitor does not know `using` and gives up; for imports it is an ordinary declaration.
const visitStatement = Visitor.prototype.visitStatement;
Visitor.prototype.visitStatement = function visitAny(statement) {
  return statement.type === 'UsingDeclaration'
    ? this.visitVariableDeclaration({ ...statement, declarations: statement.decls })
    : visitStatement.call(this, statement);
};

function describe(violation) {
  const comment = config.forbidden.find((rule) => rule.name === violation.rule.name)?.comment ?? '';
  const route = violation.cycle === undefined ? [violation.to] : violation.cycle.map((step) => step.name);
  return `${violation.from} → ${route.join(' → ')}\n  [${violation.rule.name}] ${comment}`;
}

/** One text per wrong import: the files, the rule's name, and what to do. */
export async function findViolations(root) {
  const places = ['libs', 'apps', 'test'].filter((place) => existsSync(join(root, place)));
  const { output } = await cruise(places, {
    ...config.options,
    baseDir: root,
    validate: true,
    ruleSet: { forbidden: config.forbidden },
  });
  return { violations: output.summary.violations.map(describe), files: output.summary.totalCruised };
}

async function main() {
  const { values } = parseArgs({ options: { root: { type: 'string' } } });
  const root = values.root ?? dirname(dirname(fileURLToPath(import.meta.url)));
  const { violations, files } = await findViolations(root);
  const { violations: uses, texts } = await findTableViolations(root);
  for (const text of [...violations, ...uses]) process.stdout.write(`${text}\n\n`);
  process.stdout.write(`${violations.length} wrong imports in ${files} files\n`);
  process.stdout.write(`${uses.length} wrong uses of tables in ${texts} strings\n`);
  return violations.length + uses.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main();
