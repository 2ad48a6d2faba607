const gatherMs = 5;

/**
 * Tells the publishers of the outbox, in whatever process, that something is there to publish. Not within the change
 * itself: commits that notify are carried out one after the other. Many calls are told by few notifications; one that is
 * lost costs a publisher the time until its next look.
 */
export class OutboxWake {
  private isUnderWay = false;
  private isDue = false;

  /** `notify` sends one notification. */
  constructor(private readonly notify: () => Promise<unknown>) {}

  /** To be called after a commit. Does not wait. */
  tell(): void {
    this.isDue = true;
    if (!this.isUnderWay) void this.run();
  }

  private async run(): Promise<void> {
    this.isUnderWay = true;
    while (this.isDue) {
      this.isDue = false;
      // The first is told at once; what comes while it is told, and right after it, together.
      const gathered = new Promise((resolve) => setTimeout(resolve, gatherMs));
      await Promise.all([this.notify().catch(() => undefined), gathered]);
    }
    this.isUnderWay = false;
  }
}
