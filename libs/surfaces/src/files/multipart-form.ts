import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { ServiceError, validationFailed } from '@workspace-graph/contracts';

const LIMITS_OF_A_FORM = { fields: 20, fieldSize: 20_000, files: 100, parts: 120, headerPairs: 50, headerSize: 16_384 };

/** A file of a form. Its bytes end only once it is certain that it arrived whole and nothing wrong follows it. */
export interface FormFile {
  /** As it was sent: it may be a path. */
  readonly filename: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export type FormFields = ReadonlyMap<string, string>;

/**
 * Reads multipart/form-data with constant memory: first its fields, then its files, each of which is handed to `take` as
 * it arrives. What `take` throws ends the reading.
 * @throws ServiceError VALIDATION_FAILED for a form that is malformed; what the body throws
 */
export async function readForm(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  take: (file: FormFile, fields: FormFields) => Promise<void>,
): Promise<void> {
  const parser = parserOf(contentType);
  const reading = new FormReading(take);
  parser.on('field', (name, value, _nameTruncated, truncated) => reading.field(name, value, truncated));
  parser.on('file', (_name, stream, filename) => reading.file(stream, filename));
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    parser.on(limit, () => reading.fail(malformed(`The form has too many parts (${limit}).`)));
  try {
    await pipeline(body, parser);
    reading.moveOn();
  } catch (error) {
    reading.breakOff(
      error instanceof ServiceError ? error : malformed('The body is not a complete multipart/form-data.', error),
    );
  }
  await reading.end();
}

class FormReading {
  private readonly fields = new Map<string, string>();
  private work: Promise<void> = Promise.resolve();
  private current: PromiseWithResolvers<void> | undefined;
  private stream: Readable | undefined;
  private failure: Error | undefined;

  constructor(private readonly take: (file: FormFile, fields: FormFields) => Promise<void>) {}

  field(name: string, value: string, truncated: boolean): void {
    if (this.current) this.fail(malformed(`The field ${name} comes after a file; fields must come first.`));
    else if (truncated) this.fail(malformed(`The field ${name} is too long.`));
    else if (this.fields.has(name)) this.fail(malformed(`The field ${name} is sent twice.`));
    else this.fields.set(name, value);
  }

  file(stream: Readable, filename = ''): void {
    this.moveOn();
    const arrived = Promise.withResolvers<void>();
    arrived.promise.catch(() => undefined);
    this.current = arrived;
    this.stream = stream;
    // What breaks off is told to whoever reads it; a stream that nobody reads any more is drained.
    stream.on('error', () => undefined);
    if (this.failure) arrived.reject(this.failure);
    this.work = this.work.then(() => this.handOver({ filename, bytes: wholeOf(stream, arrived.promise) }, stream));
  }

  /** The file before has arrived whole. */
  moveOn(): void {
    this.current?.resolve();
  }

  fail(error: Error): void {
    this.failure ??= error;
    this.current?.reject(this.failure);
  }

  /** Nothing more will come. */
  breakOff(error: Error): void {
    this.fail(error);
    this.stream?.destroy(error);
  }

  async end(): Promise<void> {
    await this.work;
    if (this.failure) throw this.failure;
  }

  private async handOver(file: FormFile, stream: Readable): Promise<void> {
    try {
      if (this.failure) return;
      await this.take(file, this.fields);
    } catch (error) {
      this.failure ??= error instanceof Error ? error : new Error(String(error));
    } finally {
      stream.resume();
    }
  }
}

async function* wholeOf(stream: Readable, arrived: Promise<void>): AsyncGenerator<Uint8Array> {
  // Not destroyed when the reader gives up: the parser waits until its bytes are taken.
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield chunk as Uint8Array;
  await arrived;
}

function parserOf(contentType: string): BusboyInstance {
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits: LIMITS_OF_A_FORM, preservePath: true });
  } catch (error) {
    throw malformed('The Content-Type has no boundary.', error);
  }
}

function malformed(message: string, cause?: unknown): ServiceError {
  const refusal = validationFailed([{ path: '', message }]);
  return new ServiceError(refusal.code, refusal.message, refusal.details, { cause });
}
