/** Waits for a condition. @throws Error after `timeoutMs` */
export async function until(done: () => boolean, timeoutMs = 3_000): Promise<void> {
  const deadlineMs = Date.now() + timeoutMs;
  while (!done()) {
    if (Date.now() > deadlineMs) throw new Error('What the test waits for did not happen');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
