import { fileURLToPath } from 'node:url';
import { type Plugin, runnerImport } from 'vite';

const SOURCE = fileURLToPath(new URL('../../../libs/contracts/src/', import.meta.url));
const NAME = '@workspace-graph/contracts';
/** What the page runs of it as it stands, by its module. */
const CODE: Readonly<Record<string, string>> = { restRequest: 'rest-request.ts', agentConfig: 'files/agent-config.ts' };

interface Operation {
  readonly name: string;
  readonly rest: { readonly method: string; readonly path: string };
}

/**
 * The operations as the page needs them: how each is called. Their schemas and descriptions, and what checks by them, are the
 * services'; they would be half of the page. A name that is neither an operation, plain data nor in `CODE` fails the build.
 */
export function contractsWithoutSchemas(): Plugin {
  return {
    name: 'contracts-without-schemas',
    enforce: 'pre',
    resolveId: (id) => (id === NAME ? `\0${NAME}` : undefined),
    load: async (id) => {
      if (id !== `\0${NAME}`) return undefined;
      const { module } = await runnerImport<Record<string, unknown>>(`${SOURCE}index.ts`, { logLevel: 'silent' });
      const lines = Object.entries(module).flatMap(([name, value]) => {
        const data = isOperation(value) ? { name: value.name, rest: value.rest } : value;
        return isData(data) ? [`export const ${name} = ${JSON.stringify(data)};`] : [];
      });
      const code = Object.entries(CODE).map(
        ([name, file]) => `export { ${name} } from ${JSON.stringify(SOURCE + file)};`,
      );
      return [...lines, ...code].join('\n');
    },
  };
}

function isOperation(value: unknown): value is Operation {
  return isRecord(value) && isRecord(value['rest']) && typeof value['name'] === 'string' && 'input' in value;
}

/** What JSON keeps as it is. */
function isData(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isData);
  if (isRecord(value)) return Object.values(value).every(isData);
  return value === null || ['string', 'number', 'boolean', 'undefined'].includes(typeof value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
