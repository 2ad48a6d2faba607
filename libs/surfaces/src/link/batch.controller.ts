import { Readable } from 'node:stream';
import { Controller, Inject, Post, Put, Req, Res } from '@nestjs/common';
import {
  beginPulls,
  beginPushes,
  confirmContent,
  LIMITS,
  PushOutcome,
  RawJson,
  readInput,
  ServiceError,
} from '@workspace-graph/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { admissionOf } from '../edge/admission.js';
import { EDGE_PARTS, type EdgeParts, EdgeRoute } from '../edge/index.js';
import { bytesOf, fetchContent, upload, wayOf } from '../files/byte-transfer.js';
import { envelopeOf } from '../files/file.controller.js';
import { leaveUnread } from '../files/unread-rest.js';
import { bodyStream, confirmedAtEnd } from '../rest/arriving-body.js';

/** Contents with their headers. */
const MOST_BYTES = 2 * LIMITS.batchBytes;
const Outcomes = z.strictObject({ outcomes: z.array(PushOutcome) });

/** Takes the contents of many small files from devices, and sends them, in one request for each node. */
@Controller('devices/contents/:node_id')
export class BatchController {
  constructor(@Inject(EDGE_PARTS) private readonly parts: EdgeParts) {}

  /** The body is a stream of contents, each with its push. */
  @Put()
  @EdgeRoute({ tier: 'write', streamsBody: true, takesBytes: true, takesNoCookie: true })
  async push(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<z.infer<typeof Outcomes>> {
    try {
      const node_id = nodeOf(request);
      const { transfer } = plain(await this.parts.bus.call(beginPushes, { node_id }, envelopeOf(request)));
      this.restOn(request, node_id, 'write');
      const bytes = confirmedAtEnd(bodyStream(request, MOST_BYTES), admissionOf(request));
      return Outcomes.parse(await upload(wayOf(transfer), bytes));
    } finally {
      leaveUnread(request, reply);
    }
  }

  /** The answer is a stream of contents, each with what is told of it. */
  @Post()
  @EdgeRoute({ tier: 'read', takesNoCookie: true })
  async pull(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const input = readInput(beginPulls.input, { ...(request.body as object), node_id: nodeOf(request) });
    const { transfer } = plain(await this.parts.bus.call(beginPulls, input, envelopeOf(request)));
    this.restOn(request, input.node_id, 'read');
    const signal = leaving(reply);
    const bytes = bytesOf(await fetchContent(wayOf(transfer), { signal }), signal);
    await reply
      .code(200)
      .header('content-type', 'application/octet-stream')
      .send(Readable.from(bytes, { objectMode: false }));
  }

  /** The request ends when its caller may no longer read, or write, the files of the node. */
  private restOn(request: FastifyRequest, node_id: string, level: 'read' | 'write'): void {
    admissionOf(request).restOn(async () => {
      await this.parts.bus.call(confirmContent, { node_id, level }, envelopeOf(request));
    });
  }
}

/** @throws ServiceError FORBIDDEN for who is no device */
function nodeOf(request: FastifyRequest): string {
  if (admissionOf(request).caller.device_id === undefined)
    throw new ServiceError('FORBIDDEN', 'Only devices move contents here; others use /nodes/{node_id}/file.');
  const { node_id } = request.params as { readonly node_id: string };
  return readInput(beginPushes.input, { node_id }).node_id;
}

/** Aborted when the device is gone; the signal of the request ends with its body. */
function leaving({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => gone.abort(new ServiceError('REQUEST_CANCELLED', 'The device is gone.')));
  return gone.signal;
}

function plain<T>(reply: T | RawJson): T {
  return reply instanceof RawJson ? (reply.parse() as T) : reply;
}
