import { type AsyncSubscription, subscribe } from '@parcel/watcher';
import type { SystemWatch, WatchedFolder, WatchNews, WatchOrder } from './system-watch.js';

/** Watches whole trees where the system does so itself, as macOS and Windows do. */
export class LibraryWatch implements SystemWatch {
  private readonly folders = new Set<LibraryFolder>();

  async open(order: WatchOrder, take: (news: WatchNews) => void): Promise<WatchedFolder> {
    const folder = new LibraryFolder(order, take, () => this.folders.delete(folder));
    await folder.subscribe();
    this.folders.add(folder);
    return folder;
  }

  async close(): Promise<void> {
    await Promise.all([...this.folders].map((folder) => folder.close()));
  }
}

class LibraryFolder implements WatchedFolder {
  private subscription: AsyncSubscription | null = null;

  constructor(
    private readonly order: WatchOrder,
    private readonly take: (news: WatchNews) => void,
    private readonly closed: () => void,
  ) {}

  async subscribe(): Promise<void> {
    const { root, others } = this.order;
    const ignore = ['**/.git', '**/.git/**', ...others];
    const within = ({ path }: { readonly path: string }): string => path.slice(root.length + 1);
    this.subscription = await subscribe(
      root,
      (error, events) => {
        const made = (events ?? []).filter(({ type }) => type === 'create');
        this.take({ changed: (events ?? []).map(within), unsure: made.map(within), error });
      },
      { ignore },
    );
  }

  async refresh(): Promise<void> {
    await this.unsubscribe();
    await this.subscribe();
  }

  async close(): Promise<void> {
    this.closed();
    await this.unsubscribe();
  }

  private async unsubscribe(): Promise<void> {
    const { subscription } = this;
    this.subscription = null;
    await subscription?.unsubscribe();
  }
}
