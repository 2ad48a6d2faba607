import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Controller, HttpStatus, Inject, Post, Req, Res } from '@nestjs/common';
import { LIMITS, putImportPart, RawJson, readInput, runImport, validationFailed } from '@workspace-graph/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { admissionOf } from '../edge/admission.js';
import { EdgeRoute } from '../edge/edge-route.js';
import { unsupportedMediaType } from '../edge/error-answer.js';
import { bodyStream } from './arriving-body.js';
import { callIdOf } from './call-id.js';
import { OperationCalls } from './operation-calls.js';
import { coerceQuery, coercionsOf } from './query-coercion.js';
import { callerOf, sendJson } from './rest-invoker.js';

/** Plain bytes of one part. Even text that does not compress stays below 512 KiB, and below a bus message in base64. */
const PART_BYTES = 500_000;
const compressPart = promisify<Buffer, { level: number }, Buffer>(gzip);
const OPTIONS = runImport.input.omit({ upload_id: true, parts: true });
const COERCIONS = coercionsOf(OPTIONS);

/** Takes a document of any size in constant memory: it goes to the service in compressed parts and is then applied. */
@Controller()
export class ImportController {
  constructor(@Inject(OperationCalls) private readonly calls: OperationCalls) {}

  @Post('import')
  @EdgeRoute({ tier: 'manage', streamsBody: true })
  async import(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const options = optionsOf(request);
    const callId = callIdOf(request.headers['idempotency-key'], callerOf(request), runImport.name);
    const uploadId = randomUUID();
    const parts = await this.upload(request, uploadId);
    const caller = await admissionOf(request).confirm();
    const report = await this.calls.call(
      runImport,
      { ...options, upload_id: uploadId, parts },
      { request, caller, callId },
    );
    await sendJson(reply.code(HttpStatus.OK), report instanceof RawJson ? report.source : JSON.stringify(report));
  }

  /** Sends the body in parts. Answers how many there were. */
  private async upload(request: FastifyRequest, uploadId: string): Promise<number> {
    const admission = admissionOf(request);
    let index = 0;
    if (request.body === undefined) throw unsupportedMediaType();
    for await (const part of partsOf(bodyStream(request, LIMITS.importBytes))) {
      const data = (await compressPart(part, { level: 1 })).toString('base64');
      await this.calls.call(
        putImportPart,
        { upload_id: uploadId, index, data },
        { request, caller: await admission.confirm(), callId: randomUUID() },
      );
      index += 1;
    }
    if (index === 0) throw validationFailed([{ path: '', message: 'The body must be a document.' }]);
    return index;
  }
}

function optionsOf({ query }: FastifyRequest): { dry_run?: boolean; confirmed?: boolean } {
  return readInput(OPTIONS, coerceQuery(COERCIONS, query as Record<string, string>));
}

async function* partsOf(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of body) {
    pending.push(chunk);
    pendingBytes += chunk.length;
    while (pendingBytes >= PART_BYTES) {
      const joined = Buffer.concat(pending);
      yield joined.subarray(0, PART_BYTES);
      pending = [joined.subarray(PART_BYTES)];
      pendingBytes -= PART_BYTES;
    }
  }
  if (pendingBytes > 0) yield Buffer.concat(pending);
}
