/**
 * Looks that several calls need at once, by what they look at. A call gets one that began after it asked, so that it sees all
 * that was there by then; those who ask while another look is under way share the next one.
 */
export class SharedLooks<T> {
  private readonly looks = new Map<string, Look<T>>();

  take(what: string, look: () => Promise<T>): Promise<T> {
    const running = this.looks.get(what);
    if (!running) return this.begin(what, look);
    running.next ??= running.ended.then(() => this.begin(what, look));
    return running.next;
  }

  private begin(what: string, look: () => Promise<T>): Promise<T> {
    const told = look();
    const mine: Look<T> = {
      next: null,
      // Settles without an error, and before those who wait for the next one go on.
      ended: told.then(ignore, ignore).then(() => {
        if (this.looks.get(what) === mine) this.looks.delete(what);
      }),
    };
    this.looks.set(what, mine);
    return told;
  }
}

interface Look<T> {
  readonly ended: Promise<void>;
  next: Promise<T> | null;
}

function ignore(): void {
  // Whoever asked is told.
}
