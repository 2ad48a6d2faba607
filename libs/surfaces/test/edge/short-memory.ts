import type { Adapter, AdapterPayload } from 'oidc-provider';

/** What a provider keeps, for as long as a test runs. */
export class ShortMemory implements Adapter {
  private readonly kept = new Map<string, AdapterPayload>();

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    this.kept.set(id, payload);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.kept.get(id);
  }

  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return [...this.kept.values()].find((payload) => payload.uid === uid);
  }

  async consume(id: string): Promise<void> {
    const payload = this.kept.get(id);
    if (payload) payload['consumed'] = Math.floor(Date.now() / 1_000);
  }

  async destroy(id: string): Promise<void> {
    this.kept.delete(id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [id, payload] of this.kept) if (payload.grantId === grantId) this.kept.delete(id);
  }
}
