import { Controller, HttpCode, Inject, Post, Put, Req, Res } from '@nestjs/common';
import {
  beginPush,
  confirmContent,
  LIMITS,
  type OutputOf,
  Push,
  PushedFile,
  RawJson,
  readInput,
  ServiceError,
} from '@workspace-graph/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { admissionOf } from '../edge/admission.js';
import { bodyTooLarge } from '../edge/error-answer.js';
import { EDGE_PARTS, type EdgeParts, EdgeRoute } from '../edge/index.js';
import { upload, wayOf } from '../files/byte-transfer.js';
import { envelopeOf } from '../files/file.controller.js';
import { leaveUnread } from '../files/unread-rest.js';
import { bodyStream, confirmedAtEnd } from '../rest/arriving-body.js';

/** What a device tells of the content that it sends, in the query of its request. */
const Told = Push.omit({ file_id: true }).extend({
  size_bytes: z.coerce.number().pipe(Push.shape.size_bytes),
  from: z.coerce.number().pipe(z.int().nonnegative()).default(0),
});

/** Takes the contents of files that devices have, for their places on the remotes. */
@Controller('devices/content/:file_id')
export class PushController {
  constructor(@Inject(EDGE_PARTS) private readonly parts: EdgeParts) {}

  /** Whether the content has to be sent at all, and what of it: for a large one, which could not be let by once it is on its way. */
  @Post()
  @HttpCode(200)
  @EdgeRoute({ tier: 'write', takesNoCookie: true })
  async prepare(@Req() request: FastifyRequest): Promise<Pick<OutputOf<typeof beginPush>, 'pushed' | 'received'>> {
    const { pushed, received } = await this.begin(request);
    return { pushed, received };
  }

  /** The body is the content, from the byte on that the query tells; it is not read when the remote has it already. */
  @Put()
  @EdgeRoute({ tier: 'write', streamsBody: true, takesBytes: true, takesNoCookie: true })
  async push(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<PushedFile> {
    try {
      return await this.receive(request);
    } finally {
      leaveUnread(request, reply);
    }
  }

  private async receive(request: FastifyRequest): Promise<PushedFile> {
    const { node_id, pushed, transfer } = await this.begin(request);
    if (pushed || !transfer) return PushedFile.parse(pushed);
    const admission = admissionOf(request);
    admission.restOn(async () => {
      await this.parts.bus.call(confirmContent, { node_id, level: 'write' }, envelopeOf(request));
    });
    const bytes = confirmedAtEnd(bodyStream(request, LIMITS.uploadBytes), admission);
    return PushedFile.parse(await upload(wayOf(transfer), bytes));
  }

  private async begin(request: FastifyRequest): Promise<OutputOf<typeof beginPush>> {
    if (admissionOf(request).caller.device_id === undefined)
      throw new ServiceError('FORBIDDEN', 'Only devices send contents here; others use PUT /nodes/{node_id}/file.');
    const { file_id } = request.params as { readonly file_id: string };
    const { builds_on = '', ...told } = request.query as Readonly<Record<string, string>>;
    const push = readInput(beginPush.input, { ...readInput(Told, { ...told, builds_on: builds_on || null }), file_id });
    // Of all of it: what goes on where it broke off comes in several bodies.
    if (push.size_bytes > LIMITS.uploadBytes) throw bodyTooLarge(LIMITS.uploadBytes);
    const reply = await this.parts.bus.call(beginPush, push, envelopeOf(request));
    return reply instanceof RawJson ? (reply.parse() as OutputOf<typeof beginPush>) : reply;
  }
}
