import { Controller, HttpStatus, Inject, Post, Req, Res } from '@nestjs/common';
import {
  createFile,
  type Envelope,
  type ErrorBody,
  type FileContent,
  FileName,
  LIMITS,
  RawJson,
  Section,
  ServiceError,
  Subpath,
  type TrackedFile,
  validationFailed,
} from '@workspace-graph/contracts';
import { parseSubpath, portabilityProblem, segmentProblem } from '@workspace-graph/domain';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { admissionOf } from '../edge/admission.js';
import { EdgeRoute } from '../edge/edge-route.js';
import { bodyStream, confirmedAtEnd } from '../rest/arriving-body.js';
import { callIdOf } from '../rest/call-id.js';
import { OperationCalls } from '../rest/operation-calls.js';
import { callerOf, sendJson } from '../rest/rest-invoker.js';
import { envelopeOf, nodeIdOf, queryOf, restOnNode } from './file.controller.js';
import { FILE_CONTENT } from './file-content.token.js';
import { type FormFields, type FormFile, readForm } from './multipart-form.js';
import { leaveUnread } from './unread-rest.js';

/** Where uploaded files are to lie. The name of a single file can be given beside it. */
const UploadFields = z.strictObject({
  filename: FileName.optional(),
  section: Section.default('wip'),
  subpath: z
    .union([z.literal('').transform(() => null), Subpath])
    .nullable()
    .default(null),
});

/** What became of one file of several. */
interface Uploaded {
  readonly filename: string;
  readonly file: TrackedFile | null;
  readonly error: ErrorBody | null;
}

/** Makes files: one out of JSON, or as many as a form has, streamed in constant memory. */
@Controller('nodes/:node_id/files')
export class UploadController {
  constructor(
    @Inject(FILE_CONTENT) private readonly content: FileContent,
    @Inject(OperationCalls) private readonly calls: OperationCalls,
  ) {}

  @Post()
  @EdgeRoute({ tier: 'write', takesBytes: true })
  async create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const contentType = request.headers['content-type'] ?? '';
    try {
      const isForm = /^multipart\/form-data\b/i.test(contentType);
      const answer = isForm ? await this.fromForm(request, contentType) : await this.fromJson(request, contentType);
      reply.code(HttpStatus.CREATED);
      await sendJson(reply, answer instanceof RawJson ? answer.source : JSON.stringify(answer));
    } catch (error) {
      leaveUnread(request, reply);
      throw error;
    }
  }

  private async fromJson(request: FastifyRequest, contentType: string): Promise<TrackedFile | RawJson> {
    if (contentType !== '' && !/^application\/json\b/i.test(contentType))
      throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json or multipart/form-data.');
    const { body } = request;
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw validationFailed([{ path: '', message: 'The body must be a JSON object.' }]);
    if ('node_id' in body) throw validationFailed([{ path: 'node_id', message: 'is set by the path of the URL' }]);
    const input = { ...body, node_id: await nodeIdOf(request, this.calls) } as Parameters<
      typeof this.calls.call<typeof createFile>
    >[1];
    const caller = await admissionOf(request).confirm();
    const callId = callIdOf(request.headers['idempotency-key'], caller, createFile.name);
    return this.calls.call(createFile, input, { request, caller, callId });
  }

  private async fromForm(request: FastifyRequest, contentType: string): Promise<TrackedFile | { files: Uploaded[] }> {
    const nodeId = await nodeIdOf(request, this.calls);
    const caller = callerOf(request);
    // Each file is a change of its own, known again by its place in the form.
    const callIdAt = (index: number): string =>
      callIdOf(request.headers['idempotency-key'], caller, `${createFile.name} ${index}`);
    callIdAt(0);
    const uploaded: Uploaded[] = [];
    const refusals: ServiceError[] = [];
    restOnNode(request, this.content, { nodeId, level: 'write' });
    await readForm(bodyStream(request, LIMITS.uploadBytes), contentType, async (file, fields) => {
      try {
        const index = uploaded.length;
        const envelope = { ...envelopeOf(request), callId: callIdAt(index) };
        const created = await this.take(request, { nodeId, envelope }, file, named(fields, index));
        uploaded.push({ filename: created.filename, file: created, error: null });
      } catch (error) {
        if (!(error instanceof ServiceError) || endsAll(error)) throw error;
        refusals.push(error);
        uploaded.push({ filename: file.filename, file: null, error: error.toBody(request.id) });
      }
    });
    return answerOf(uploaded, refusals);
  }

  private take(
    request: FastifyRequest,
    { nodeId, envelope }: { readonly nodeId: string; readonly envelope: Envelope },
    { filename, bytes }: FormFile,
    fields: FormFields,
  ): Promise<TrackedFile> {
    const path = pathOf(filename, queryOf(UploadFields, Object.fromEntries(fields)));
    const confirmed = confirmedAtEnd(bytes, admissionOf(request));
    return this.content.create({ nodeId, path }, confirmed, { text: false }, envelope);
  }
}

/** @throws ServiceError VALIDATION_FAILED that names the field */
function pathOf(ownName: string, { filename = ownName, section, subpath }: z.output<typeof UploadFields>): string {
  const name = filename.normalize('NFC');
  if (/[/\\]/.test(name))
    throw validationFailed([
      { path: 'filename', message: 'must be a name without folders; send the folder in subpath' },
    ]);
  const problem = segmentProblem(name) ?? portabilityProblem(name);
  if (problem !== null) throw validationFailed([{ path: 'filename', message: problem }]);
  if (subpath === null) return `${section}/${name}`;
  const folders = parseSubpath(subpath, { portable: true });
  if ('problem' in folders) throw validationFailed([{ path: 'subpath', message: folders.problem }]);
  return `${section}/${folders.value}/${name}`;
}

/** @throws ServiceError VALIDATION_FAILED for one name that is to be that of several files */
function named(fields: FormFields, before: number): FormFields {
  if (before === 0 || !fields.has('filename')) return fields;
  throw validationFailed([
    { path: 'filename', message: 'must not be sent with several files, which keep their own names' },
  ]);
}

/** What is wrong with the whole request, and not with one file of it. */
function endsAll({ code }: ServiceError): boolean {
  return [
    'NODE_NOT_FOUND',
    'UNAUTHENTICATED',
    'FORBIDDEN',
    'NO_MIRROR',
    'REQUEST_TIMEOUT',
    'REQUEST_CANCELLED',
    'PAYLOAD_TOO_LARGE',
  ].includes(code);
}

function answerOf(uploaded: Uploaded[], [refusal]: readonly ServiceError[]): TrackedFile | { files: Uploaded[] } {
  const [only] = uploaded;
  if (!only) throw validationFailed([{ path: 'file', message: 'The form has no file.' }]);
  const isRefused = uploaded.every(({ file }) => file === null);
  if (refusal && isRefused && uploaded.length === 1) throw refusal;
  if (refusal && isRefused)
    throw new ServiceError(refusal.code, `None of the files was created: ${refusal.message}`, { files: uploaded });
  return uploaded.length === 1 && only.file ? only.file : { files: uploaded };
}
