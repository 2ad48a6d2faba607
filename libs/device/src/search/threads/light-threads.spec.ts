import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = join(dirname(fileURLToPath(import.meta.url)), '../../../dist');

/** The files that a thread of a built module loads before it is asked for anything. */
async function loadedBy(module: string): Promise<string[]> {
  const report = `import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => (process._rawDebug('loaded ' + url), next(url, context)) });`;
  const start = `import { Worker } from 'node:worker_threads';
    const options = { workerData: ':memory:', execArgv: [${JSON.stringify(`--import=data:text/javascript,${encodeURIComponent(report)}`)}] };
    const worker = new Worker(${JSON.stringify(join(DIST, module))}, options);
    worker.once('online', () => worker.postMessage({ id: 0, request: { kind: 'none' } }));
    for (const event of ['message', 'error']) worker.once(event, () => process.exit());`;
  const stderr = await new Promise<string>((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', start], (_error, _stdout, text) => resolve(text));
  });
  return [...stderr.matchAll(/^loaded (file:.*)$/gm)].map(([, url = '']) => url);
}

describe('a thread', () => {
  it.each(['scan/scan-worker.js', 'search/index/index-worker.js', 'watcher/system/tree-worker.js'])(
    'loads what it works with, and neither schemas nor a framework: %s',
    async (module) => {
      const loaded = await loadedBy(module);
      expect(loaded.some((url) => url.endsWith(module))).toBe(true);
      expect(loaded.filter((url) => /node_modules\/(zod|@nestjs)|contracts\/dist\/index\.js/.test(url))).toEqual([]);
      expect(loaded.length).toBeLessThan(40);
    },
  );
});
