import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync as parseSource } from '@swc/core';
import { loadModule, parseSync as parseSql, scanSync } from 'libpg-query';

/**
 * Which code uses which table of PostgreSQL, held to `.table-owners.mjs`. Reads every string of the product's sources,
 * the bodies of the database's functions and views, and the models of Prisma that code names.
 *
 * A string may be a piece of SQL, so it is not parsed but split into words by PostgreSQL's own scanner: what counts is
 * `schema.object`, where a migration makes that object. Names without a schema reach no object of the product, as
 * migrations make none outside the schemas of the owners and nothing sets `search_path`.
 */

const TEST_CODE = /\.(spec|fixture|suite|conformance)\.ts$|\/(testing|generated|conformance)\/|^libs\/testing\//;
const COMMENTS = {
  'tables-apart':
    'Read a view or call a function that its owner publishes in .table-owners.mjs, or name an exemption there with its reason.',
  'plain-names':
    'Write the schema and the name of a table, view or function in full, so that the check can find its owner.',
  readable: 'PostgreSQL cannot split this into words: write each string so that it can be read by itself.',
  'known-schemas': 'Name the owner of this schema in .table-owners.mjs.',
  'no-search-path': 'Names without a schema must not reach objects of the product: do not set search_path.',
  'used-exemption': 'Nothing needs this exemption: remove it from .table-owners.mjs.',
  'used-publication': 'No other owner uses this, or it does not exist: remove it from .table-owners.mjs.',
};
/** Stands for what code puts into a string; to the scanner it is a name. */
const HOLE = '__hole__';

/** One text per wrong use: where, what, the rule's name, and what to do. Nothing without `.table-owners.mjs` in `root`. */
export async function findTableViolations(root) {
  const file = join(root, '.table-owners.mjs');
  if (!existsSync(file)) return { violations: [], texts: 0 };
  const { default: rules } = await import(pathToFileURL(file).href);
  await loadModule();
  const objects = readObjects(root);
  const texts = [...textsOfObjects(objects, rules.owners), ...textsOfSources(root, rules.owners)];
  const models = readModels(root);
  const check = new Check(rules, objects);
  for (const { place, owner, sql, model } of texts) {
    if (model === undefined) check.text(place, owner, sql);
    else if (models.has(model)) check.use(place, owner, models.get(model));
  }
  return { violations: check.end(), texts: texts.length };
}

class Check {
  constructor({ owners, published, exemptions }, objects) {
    Object.assign(this, { owners, published, exemptions, objects });
    this.speaksOfTables = new RegExp(
      `\\b(${[...TAKES_TABLE].join('|')}|search_path)\\b|\\b(${Object.keys(owners).join('|')})"?\\s*\\.`,
    );
    this.violations = new Set();
    this.needed = new Set();
    this.tables = new Set([...objects.keys()].map((name) => name.split('.')[1]));
  }

  text(place, owner, sql) {
    if (!this.speaksOfTables.test(sql)) return;
    const words = wordsOf(sql);
    if (words === null) return this.wrong('readable', place, sql.trim().slice(0, 60));
    const local = localNames(words);
    words.forEach((word, at) => {
      if (word === 'search_path') this.wrong('no-search-path', place, word);
      if (words[at - 1] === '.') return;
      if (words[at + 1] === '.' && word in this.owners) this.qualified(place, owner, `${word}.${words[at + 2]}`);
      else if (words[at + 1] !== '.' && TAKES_TABLE.has(words[at - 1]) && this.tables.has(word) && !local.has(word))
        this.wrong('plain-names', place, word);
    });
  }

  qualified(place, owner, name) {
    const [beginning, ...rest] = name.split(HOLE);
    if (rest.length === 0 && this.objects.has(name)) this.use(place, owner, name);
    if (rest.length > 0 && [...this.objects.keys()].some((known) => known.startsWith(beginning)))
      this.wrong('plain-names', place, [beginning, ...rest].join('…'));
  }

  use(place, owner, name) {
    if (this.owners[name.split('.')[0]] === owner) return;
    const exemption = this.exemptions.find(({ in: where, uses }) => isWithin(place, where) && uses.includes(name));
    if (exemption) this.needed.add(`${exemption.in} ${name}`);
    else if (this.published.includes(name)) this.needed.add(name);
    else this.wrong('tables-apart', place, name);
  }

  end() {
    for (const name of this.objects.keys())
      if (!(name.split('.')[0] in this.owners)) this.wrong('known-schemas', 'prisma/migrations', name);
    for (const name of this.published)
      if (!this.needed.has(name)) this.wrong('used-publication', '.table-owners.mjs', name);
    for (const { in: where, uses } of this.exemptions)
      for (const name of uses) if (!this.needed.has(`${where} ${name}`)) this.wrong('used-exemption', where, name);
    return [...this.violations];
  }

  wrong(rule, place, name) {
    this.violations.add(`${place} → ${name}\n  [${rule}] ${COMMENTS[rule]}`);
  }
}

function isWithin(place, where) {
  return place === where || (where.endsWith('/') && place.startsWith(where));
}

/** After these a table is named; in upper case, as prose has them in lower case. */
const TAKES_TABLE = new Set(['FROM', 'JOIN', 'INTO', 'UPDATE', 'USING', 'TABLE', 'ONLY']);

/** Words and signs of a piece of SQL: names without quotes, literals and comments left out. Null for what is no SQL. */
function wordsOf(sql) {
  let tokens;
  try {
    ({ tokens } = scanSync(sql));
  } catch {
    return null;
  }
  return tokens
    .filter(({ tokenName }) => !/CONST$|COMMENT$/.test(tokenName))
    .map(({ text }) => text.replace(/^"(.*)"$/, '$1'));
}

/** What the text itself gives a name, as in `name AS (SELECT …)`. */
function localNames(words) {
  const isOpened = (at) => ['(', 'MATERIALIZED', 'NOT'].includes(words[at]);
  return new Set(words.filter((_, at) => words[at + 1] === 'AS' && isOpened(at + 2)));
}

/** What the migrations make, by `schema.name`: the SQL of functions and views, null of tables. */
function readObjects(root) {
  const objects = new Map();
  const folder = join(root, 'prisma/migrations');
  for (const migration of readdirSync(folder).sort()) {
    const sql = readFileSync(join(folder, migration, 'migration.sql'));
    for (const { stmt, stmt_location: start = 0, stmt_len: length } of parseSql(sql.toString()).stmts) {
      const { CreateStmt: table, ViewStmt: view, CreateFunctionStmt: made } = stmt;
      const text = () => sql.subarray(start, length && start + length).toString();
      if (table && table.relation.relpersistence === 'p') objects.set(nameOf(table.relation), null);
      if (view) objects.set(nameOf(view.view), text());
      if (made) objects.set(made.funcname.map(({ String: part }) => part.sval).join('.'), bodyOf(made) ?? text());
    }
  }
  return objects;
}

function nameOf({ schemaname = 'public', relname }) {
  return `${schemaname}.${relname}`;
}

/** Null for a body that is part of the statement. */
function bodyOf({ options }) {
  const as = options.map(({ DefElem: option }) => option).find(({ defname }) => defname === 'as');
  return as ? as.arg.List.items.map(({ String: part }) => part.sval).join('\n') : null;
}

function* textsOfObjects(objects, owners) {
  for (const [place, sql] of objects) if (sql !== null) yield { place, owner: owners[place.split('.')[0]], sql };
}

/** The strings of the product's sources, and the models of Prisma that they name. */
function* textsOfSources(root, owners) {
  for (const found of globSync('{libs,apps}/**/src/**/*.ts', {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  })) {
    const place = found.replaceAll('\\', '/');
    if (TEST_CODE.test(place)) continue;
    const owner = Object.values(owners).find((folder) => place.startsWith(`${folder}/`));
    const source = readFileSync(join(root, place), 'utf8');
    for (const found of findInSource(parseSource(source, { syntax: 'typescript', decorators: true })))
      yield { place, owner, ...found };
  }
}

function* findInSource(part) {
  if (typeof part !== 'object' || part === null) return;
  if (part.type === 'StringLiteral') yield { sql: part.value };
  if (part.type === 'TemplateLiteral') yield { sql: part.quasis.map(({ cooked }) => cooked).join(HOLE) };
  if (part.type === 'MemberExpression' && isPrisma(part.object)) yield { model: part.property.value };
  for (const inner of Object.values(part)) yield* findInSource(inner);
}

function isPrisma({ type, value, property }) {
  return (type === 'MemberExpression' ? property.value : value) === 'prisma';
}

/** `schema.table` of each model of Prisma, by the name that code gives it. */
function readModels(root) {
  const files = globSync('prisma/schema/*.prisma', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'));
  const models = files.join('\n').matchAll(/^model (\w+) \{[\s\S]*?@@map\("(\w+)"\)[\s\S]*?@@schema\("(\w+)"\)/gm);
  return new Map(
    [...models].map(([, name, table, schema]) => [name[0].toLowerCase() + name.slice(1), `${schema}.${table}`]),
  );
}
