import { createHash } from 'node:crypto';
import { Controller, HttpCode, Inject, Post, Req } from '@nestjs/common';
import {
  JOIN_PATH,
  JoinRequest,
  joinDevice,
  type OutputOf,
  readInput,
  serviceCaller,
} from '@workspace-graph/contracts';
import type { FastifyRequest } from 'fastify';
import { ask, EDGE_PARTS, type EdgeParts, EdgeRoute } from '../edge/index.js';

const EDGE = serviceCaller('edge');

/** How a workstation that was invited gets a token of its own. */
@Controller()
export class JoinController {
  constructor(@Inject(EDGE_PARTS) private readonly parts: EdgeParts) {}

  /** Exchanges a code, once, for the token of the device that it makes. The code itself goes no further. */
  @Post(JOIN_PATH)
  @HttpCode(201)
  @EdgeRoute({ tier: 'public', takesNoCookie: true })
  async join(@Req() request: FastifyRequest): Promise<OutputOf<typeof joinDevice>> {
    const { code, ...joining } = readInput(JoinRequest, request.body);
    const code_sha256 = createHash('sha256').update(code).digest('hex');
    return ask(this.parts.bus, joinDevice, { code_sha256, ...joining }, { caller: EDGE, requestId: request.id });
  }
}
