import { type ByteRange, ServiceError } from '@workspace-graph/contracts';

const SINGLE = /^bytes=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i;

/**
 * The part of the content that a Range header asks for; undefined when all of it is to be answered: for several ranges at
 * once, and for what is no range, as the standard wants it.
 * @throws ServiceError RANGE_NOT_SATISFIABLE for a range in which no byte lies
 */
export function rangeAsked(header: string | undefined, sizeBytes: number): ByteRange | undefined {
  const [, from = '', to = ''] = (header === undefined ? null : SINGLE.exec(header)) ?? [];
  if (from === '' && to === '') return undefined;
  if (from !== '' && to !== '' && Number(from) > Number(to)) return undefined;
  const start = from === '' ? Math.max(0, sizeBytes - Number(to)) : Number(from);
  const last = sizeBytes - 1;
  const end = from === '' || to === '' ? last : Math.min(Number(to), last);
  if (start <= end) return { start, end };
  throw new ServiceError('RANGE_NOT_SATISFIABLE', `The range is outside the ${sizeBytes} bytes of the file.`, {
    size_bytes: sizeBytes,
  });
}
