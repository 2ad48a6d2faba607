import { OutboxWake } from './outbox-wake.js';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('changes that follow one another', () => {
  it('are told by one notification after the one that is under way', async () => {
    const sent: (() => void)[] = [];
    const wake = new OutboxWake(() => new Promise<void>((resolve) => sent.push(resolve)));
    for (let change = 0; change < 100; change += 1) wake.tell();
    expect(sent).toHaveLength(1);
    sent[0]?.();
    await settled();
    expect(sent).toHaveLength(2);
    sent[1]?.();
    await settled();
    expect(sent).toHaveLength(2);
    wake.tell();
    expect(sent).toHaveLength(3);
  });

  it('are told also after a notification that failed', async () => {
    let sent = 0;
    const wake = new OutboxWake(async () => {
      sent += 1;
      throw new Error('The database is away');
    });
    for (const count of [1, 2]) {
      wake.tell();
      await settled();
      expect(sent).toBe(count);
    }
  });
});
