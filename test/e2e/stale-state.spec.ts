import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@workspace-graph/testing';
import { START_MS, WorkspaceFolder } from './workspace-process.js';

const STORY_MS = 4 * START_MS;

describe('what a killed workspace left', () => {
  it(
    'is never taken for a workspace that runs, whoever has its port and its process id by now [cli.finds-workspace, cli.status, cli.stop.no-orphan]',
    async () => {
      await using mine = new WorkspaceFolder();
      await using other = new WorkspaceFolder();
      const port = String(await freePort());
      const killed = await mine.start({ SVC_PORT: port });
      await killed.kill();
      const others = await other.start({ SVC_PORT: port });
      const bystander = spawn('sleep', ['600'], { stdio: 'ignore' });
      try {
        const file = join(mine.root, '.svc/workspace.json');
        const state = JSON.parse(readFileSync(file, 'utf8')) as object;
        writeFileSync(file, JSON.stringify({ ...state, pid: bystander.pid }));

        expect((await mine.svc(['status', '--json'])).code).toBe(3);
        expect((await mine.svc(['stop', '--json'])).code).toBe(3);
        expect(bystander.exitCode).toBeNull();
        const taken = await mine.svc(['start', '--foreground', '--json', '--port', port]);
        expect([taken.code, JSON.parse(taken.stdout)]).toMatchObject([1, { code: 'PORT_TAKEN' }]);
        expect((await others.fetch('/overview')).status).toBe(200);
        const again = await mine.start();
        expect((await again.fetch('/overview')).status).toBe(200);
        expect(JSON.parse((await mine.svc(['status', '--json'])).stdout)).toMatchObject({ url: again.url });
      } finally {
        bystander.kill();
        await once(bystander, 'exit');
      }
    },
    STORY_MS,
  );
});
