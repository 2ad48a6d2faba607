import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const checker = fileURLToPath(new URL('./boundaries.mjs', import.meta.url));

const MIGRATION = `
  CREATE SCHEMA red; CREATE SCHEMA blue;
  CREATE TABLE red.apple (id int PRIMARY KEY);
  CREATE TABLE red."order" (id int REFERENCES red.apple (id));
  CREATE TABLE blue.sky (id int REFERENCES red.apple (id));
  CREATE VIEW red.ripe AS SELECT id FROM red.apple;
  CREATE FUNCTION red.count() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM red.apple $$;`;
const MODELS = 'model RedApple {\n  id Int @id\n\n  @@map("apple")\n  @@schema("red")\n}\n';

let root: string;

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

interface Rules {
  readonly published?: readonly string[];
  readonly exemptions?: readonly { readonly in: string; readonly uses: readonly string[]; readonly reason: string }[];
}

function setRules({ published = [], exemptions = [] }: Rules): void {
  const owners = { red: 'libs/red', blue: 'libs/blue' };
  write('.table-owners.mjs', `export default ${JSON.stringify({ owners, published, exemptions })};`);
}

/** `place → what [rule]` of each violation. */
async function check(): Promise<string[]> {
  const done = run(process.execPath, [checker, '--root', root], { env: { ...process.env, NODE_OPTIONS: '' } });
  const { stdout } = await done.catch((error: { stdout: string }) => error);
  return [...stdout.matchAll(/^(\S+ → .*)\n {2}(\[\S+\])/gm)].map(([, what, rule]) => `${what} ${rule}`).sort();
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'table-boundaries-'));
  write('package.json', JSON.stringify({ name: 'planted', type: 'module' }));
  write('prisma/migrations/0001_first/migration.sql', MIGRATION);
  write('prisma/schema/red.prisma', MODELS);
  setRules({});
});

afterEach(() => rmSync(root, { recursive: true }));

describe('the owners of tables', () => {
  it('use their own tables, and what another owner publishes', async () => {
    setRules({ published: ['red.ripe', 'red.count'] });
    write('libs/red/src/a.ts', 'export const A = `SELECT id FROM red.apple JOIN red."order" USING (id)`;\n');
    write('libs/red/src/b.ts', 'export const b = (tx: Tx) => tx.prisma.redApple.findMany();\n');
    write(
      'libs/blue/src/a.ts',
      'export const A = `SELECT red.count(), r.id FROM red.ripe r JOIN blue.sky s ON s.id = r.id`;\n',
    );
    write('libs/blue/src/a.spec.ts', "export const A = 'SELECT FROM red.apple';\n");
    expect(await check()).toEqual([]);
  });

  it('are told every use of a table of another one: in strings, in pieces of strings, by models, in functions', async () => {
    write('libs/blue/src/a.ts', "export const A = 'SELECT FROM red.apple';\n");
    write(
      'libs/blue/src/b.ts',
      `const from = (t: string) => \`FROM \${t} x\`;\nexport const B = from('red."order"');\n`,
    );
    write('libs/blue/src/c.ts', 'export const c = (db: Db) => db.prisma.redApple.findMany();\n');
    write(
      'libs/blue/src/d.ts',
      'export const D = `DELETE FROM blue.sky USING red.ripe r WHERE red.count() = 1 -- red.apple`;\n',
    );
    write('apps/any/src/a.ts', "export const A = 'TRUNCATE blue.sky';\n");
    write(
      'prisma/migrations/0002_second/migration.sql',
      `CREATE FUNCTION blue.touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM FROM red.apple; RETURN NULL; END $$;
       CREATE VIEW blue.view AS SELECT id FROM red.apple;
       CREATE FUNCTION blue.first() RETURNS int LANGUAGE sql RETURN (SELECT id FROM red."order" LIMIT 1);`,
    );
    expect(await check()).toEqual([
      'apps/any/src/a.ts → blue.sky [tables-apart]',
      'blue.first → red.order [tables-apart]',
      'blue.touch → red.apple [tables-apart]',
      'blue.view → red.apple [tables-apart]',
      'libs/blue/src/a.ts → red.apple [tables-apart]',
      'libs/blue/src/b.ts → red.order [tables-apart]',
      'libs/blue/src/c.ts → red.apple [tables-apart]',
      'libs/blue/src/d.ts → red.count [tables-apart]',
      'libs/blue/src/d.ts → red.ripe [tables-apart]',
    ]);
  });

  it('write names out, with their schema', async () => {
    write('libs/red/src/a.ts', "export const A = 'SELECT FROM apple';\n");
    write('libs/red/src/b.ts', `export const B = (t: string) => \`SELECT FROM red.\${t}\`;\n`);
    write('libs/red/src/c.ts', "export const C = 'WITH apple AS (SELECT 1) SELECT FROM apple';\n");
    write('libs/red/src/d.ts', "export const D = 'SET search_path = red';\n");
    write('libs/red/src/e.ts', "export const E = `SELECT 'a FROM red.apple`;\n");
    write('prisma/migrations/0002_second/migration.sql', 'CREATE TABLE pear (id int);');
    expect(await check()).toEqual([
      'libs/red/src/a.ts → apple [plain-names]',
      'libs/red/src/b.ts → red.… [plain-names]',
      'libs/red/src/d.ts → search_path [no-search-path]',
      "libs/red/src/e.ts → SELECT 'a FROM red.apple [readable]",
      'prisma/migrations → public.pear [known-schemas]',
    ]);
  });

  it('have no exemption that nothing needs, and publish nothing that nobody uses', async () => {
    setRules({
      published: ['red.ripe', 'red.gone'],
      exemptions: [{ in: 'libs/blue/src/in/', uses: ['red.apple', 'red.order'], reason: 'planted' }],
    });
    write('libs/blue/src/in/a.ts', "export const A = 'SELECT FROM red.apple JOIN red.ripe ON true';\n");
    write('libs/blue/src/out.ts', "export const A = 'SELECT FROM red.apple';\n");
    expect(await check()).toEqual([
      '.table-owners.mjs → red.gone [used-publication]',
      'libs/blue/src/in/ → red.order [used-exemption]',
      'libs/blue/src/out.ts → red.apple [tables-apart]',
    ]);
  });
});
