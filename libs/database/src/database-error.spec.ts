import { ServiceError } from '@workspace-graph/contracts';
import { Database } from './database.js';
import { translateDatabaseError } from './database-error.js';

const codeOf = (error: unknown): unknown => {
  const translated = translateDatabaseError(error);
  return translated instanceof ServiceError ? translated.code : translated;
};

describe('a failure of the database', () => {
  it.each([
    ['whose name is unknown', 'postgresql://nobody@no-such-host.invalid/nothing'],
    ['whose port is closed', 'postgresql://nobody@127.0.0.1:1/nothing'],
    ['whose socket is gone', 'postgresql://nobody@%2Fno%2Fsuch%2Ffolder/nothing'],
  ])('%s is no fault of ours, on every way to it', async (_what, url) => {
    const database = new Database({ url });
    const ways = [
      database.pool.query('SELECT 1'),
      database.transaction(async () => ({ result: 1 })),
      database.prisma.user.findFirst(),
      database.prisma.$transaction((client) => client.$queryRawUnsafe('SELECT 1')),
    ];
    const failures = await Promise.allSettled(ways);
    expect(failures.map((way) => way.status === 'rejected' && codeOf(way.reason))).toEqual(
      ways.map(() => 'SERVICE_UNAVAILABLE'),
    );
    await database.close();
  });

  it.each([
    ['a deadlock', '40P01'],
    ['no free connection', '53300'],
    ['a statement that was ended', '57014'],
    ['a server that stops', '57P01'],
    ['a server that only reads', '25006'],
    ['a transaction that was idle for too long', '25P03'],
    ['a connection that failed', '08006'],
  ])('such as %s can be tried again', (_what, code) => {
    expect(codeOf(Object.assign(new Error('refused'), { code }))).toBe('SERVICE_UNAVAILABLE');
  });

  it('that is a full disk is told as that', () => {
    expect(codeOf(Object.assign(new Error('no room'), { code: '53100' }))).toBe('STORAGE_FULL');
  });

  it('that is a fault of ours stays what it is', () => {
    const fault = Object.assign(new Error('syntax error'), { code: '42601' });
    expect(translateDatabaseError(fault)).toBe(fault);
  });
});
