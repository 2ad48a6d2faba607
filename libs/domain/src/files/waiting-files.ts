/** Files whose text is still to be read, from when they are known to when their text can be found. */
export class WaitingFiles {
  private readonly tickets = new Map<string, { readonly nodeId: string }>();
  private readonly byNode = new Map<string, number>();

  /** The ticket tells this change of the file from later ones. */
  add(fileId: string, nodeId: string): object {
    this.remove(fileId);
    const ticket = { nodeId };
    this.tickets.set(fileId, ticket);
    this.byNode.set(nodeId, (this.byNode.get(nodeId) ?? 0) + 1);
    return ticket;
  }

  ticketOf(fileId: string): object | undefined {
    return this.tickets.get(fileId);
  }

  /** With a ticket: unless the file was changed again since. */
  remove(fileId: string, ticket?: object): void {
    const known = this.tickets.get(fileId);
    if (!known || (ticket && ticket !== known)) return;
    this.tickets.delete(fileId);
    const left = (this.byNode.get(known.nodeId) ?? 0) - 1;
    if (left > 0) this.byNode.set(known.nodeId, left);
    else this.byNode.delete(known.nodeId);
  }

  removeNode(nodeId: string): void {
    for (const [fileId, ticket] of this.tickets) if (ticket.nodeId === nodeId) this.tickets.delete(fileId);
    this.byNode.delete(nodeId);
  }

  count(nodeId: string): number {
    return this.byNode.get(nodeId) ?? 0;
  }

  nodes(): Iterable<string> {
    return this.byNode.keys();
  }
}
