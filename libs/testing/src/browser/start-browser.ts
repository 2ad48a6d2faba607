import { type Browser, chromium } from 'playwright-core';
import { memoryFolder } from '../temp.js';
import { findChromium } from './chromium.js';

/** Nothing but the pages that it is sent to: no updates, no look-ups, no profile of before. */
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  // Draws WebGL without a graphics card.
  '--enable-unsafe-swiftshader',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A real Chromium without a window; the caller closes it. */
export async function startBrowser(): Promise<Browser> {
  const { program, environment } = await findChromium();
  const env = Object.fromEntries(
    Object.entries({ ...process.env, ...environment }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  // What its processes share lies in memory where there is room, not in files on a disk.
  const ignoreDefaultArgs = memoryFolder() === undefined ? [] : ['--disable-dev-shm-usage'];
  return chromium.launch({ executablePath: program, args: ARGUMENTS, ignoreDefaultArgs, env });
}
