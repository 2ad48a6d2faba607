import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { Operation } from '@workspace-graph/contracts';
import type { FastifyReply } from 'fastify';
import { EdgeRoute } from '../edge/edge-route.js';
import { asyncApiDocument } from '../ws/asyncapi.js';
import { openApiDocument } from './openapi.js';
import { sendJson } from './rest-invoker.js';

export const OPENAPI_OPTIONS = Symbol('workspace-graph:openapi-options');

/** Serves the documents that describe the routes and the live channel. Each is built once, at the first request. */
@Controller()
export class OpenApiController {
  private text: string | undefined;
  private liveText: string | undefined;

  constructor(
    @Inject(OPENAPI_OPTIONS) private readonly options: { version: string; operations: readonly Operation[] },
  ) {}

  @Get('openapi.json')
  @EdgeRoute({ tier: 'read' })
  async get(@Res() reply: FastifyReply): Promise<void> {
    this.text ??= JSON.stringify(openApiDocument(this.options.version, this.options.operations));
    await sendJson(reply, this.text);
  }

  @Get('asyncapi.json')
  @EdgeRoute({ tier: 'read' })
  async getLive(@Res() reply: FastifyReply): Promise<void> {
    this.liveText ??= JSON.stringify(asyncApiDocument(this.options.version));
    await sendJson(reply, this.liveText);
  }
}
