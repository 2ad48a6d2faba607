import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LinkBus, whenReady } from '@workspace-graph/bus';
import {
  inviteDevice,
  JOIN_PATH,
  type joinDevice,
  LINK_PATH,
  type OutputOf,
  pullFiles,
  storeFiles,
  whoami,
} from '@workspace-graph/contracts';
import { type Person, person } from '../../central/workstation.js';
import { residentMB } from '../memory.js';
import type { Figure } from '../report/figures.js';
import { below } from '../report/judge.js';
import { makeHuge } from './copies.js';
import type { Stage } from './stage.js';

const MOST_GROWTH_MB = 60;
const MOST_LINK_KB = 40;
const READY_MS = 120_000;
/** Links that make the code warm, and whatever is allocated once. */
const WARM_UP = 10;
/** Devices of one person: each has a token, of which a person has a hundred at most. */
const PER_PERSON = 50;
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** What one large content costs each process on its way to the storage and from there, above what it held before. */
export async function measureMemory(stage: Stage): Promise<Figure[]> {
  const { hugeMB } = stage.options;
  const storage = await stage.storage('fs');
  if (!storage) return [];
  stage.progress(`one file of ${hugeMB} MB …`);
  const { id: nodeId, here } = await stage.node(storage);
  const path = join(stage.scratch, 'huge.bin');
  await makeHuge(path, hugeMB);
  const move = async (source: string): Promise<void> => {
    const { stored } = await stage.from.client.call(storeFiles, { node_id: nodeId, local_paths: [source] });
    const file_ids = stored.map(({ file_id }) => file_id);
    const { pulled } = await stage.to.client.call(pullFiles, { node_id: nodeId, file_ids });
    if (pulled.length !== 1) throw new Error(`${source} did not arrive`);
  };
  // Whatever is loaded and allocated once is not what the content costs.
  await makeHuge(join(stage.scratch, 'first.bin'), 1);
  await move(join(stage.scratch, 'first.bin'));
  const processes = [
    ...['gateway', 'file-svc'].flatMap((name) => stage.world.central.instances(name).map(({ pid }) => ({ name, pid }))),
    { name: 'workstation that stores', pid: stage.from.running.pid },
    { name: 'workstation that pulls', pid: stage.to.running.pid },
  ];
  for (const { pid } of processes) forgetPeak(pid);
  const before = processes.map(({ pid }) => peakMB(pid));
  await move(path);
  stage.progress(`it lies in ${here} and on the other side`);
  return processes.map(({ name, pid }, index) => {
    const value = Math.max(0, peakMB(pid) - (before[index] ?? 0));
    return {
      what: `growth with a file of ${hugeMB} MB, ${name}`,
      value,
      unit: 'MB',
      verdict: below(MOST_GROWTH_MB, value),
    };
  });
}

/**
 * What one idle workstation costs the gateway: each of the first ones, and one more beside as many. V8's space for new objects
 * grows while the first ones come, and is used again.
 */
export async function measureLinks(stage: Stage): Promise<Figure[]> {
  const { links: count } = stage.options;
  stage.progress(`${count} idle links …`);
  const [gateway] = stage.world.central.instances('gateway');
  if (!gateway) throw new Error('there is no gateway');
  const links: LinkBus[] = [];
  let who = await person(stage.ada, 'Lin 0');
  const open = async (): Promise<void> => {
    if (links.length > 0 && links.length % PER_PERSON === 0) who = await person(stage.ada, `Lin ${links.length}`);
    links.push(await openLink(stage, who));
  };
  try {
    for (let index = 0; index < WARM_UP; index += 1) await open();
    const held = (): number => residentMB([{ name: 'gateway', pid: gateway.pid }]).get('gateway') ?? 0;
    const eachOfMore = async (): Promise<number> => {
      const before = held();
      for (let index = 0; index < count; index += 1) await open();
      return ((held() - before) * 1_024) / count;
    };
    const first = await eachOfMore();
    const more = await eachOfMore();
    return [
      { what: `memory of an idle link of ${count}`, value: first, unit: 'KB', verdict: below(MOST_LINK_KB, first) },
      { what: `memory of one more beside ${count}`, value: more, unit: 'KB', verdict: null },
    ];
  } finally {
    await Promise.all(links.map((link) => link.close()));
  }
}

/** A workstation as far as its link goes: it has asked who it is, and hears of what its person sees. */
async function openLink({ world }: Stage, who: Person): Promise<LinkBus> {
  const { code } = await who.call(inviteDevice, {});
  const [url = ''] = world.urls;
  const response = await fetch(new URL(JOIN_PATH, url), {
    method: 'POST',
    body: JSON.stringify({ code, name: 'bench' }),
    headers: { 'content-type': 'application/json' },
  });
  const { token } = (await response.json()) as OutputOf<typeof joinDevice>;
  const link = LinkBus.connect({
    url: `${url.replace(/^http/, 'ws')}${LINK_PATH}`,
    headers: () => ({ authorization: `Bearer ${token}` }),
    logger: silent,
  });
  await whenReady(link, AbortSignal.timeout(READY_MS));
  await link.subscribe(['graph.changed', 'file.changed', 'access.changed'], () => undefined);
  await link.call(whoami, {}, { callId: randomUUID(), requestId: randomUUID(), caller: null });
  return link;
}

/** From now on, the peak is that of what comes. */
function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** The most that a process held. */
function peakMB(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}
