/** Ends what the workers of this run have started through the keeper. */
export default async function tearDown() {
  await globalThis.workspaceGraphKeeper?.close();
}
