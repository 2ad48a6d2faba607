import {
  type ClientFrameType,
  DRIVING_FRAMES,
  ERRORS,
  FOLLOWING_FRAMES,
  type ObjectSchema,
  SERVER_FRAMES,
  type ServerFrameType,
  SOCKET_PATH,
  Subscribed,
  Watching,
} from '@workspace-graph/contracts';
import { z } from 'zod';

type Json = Readonly<Record<string, unknown>>;

const DESCRIPTION =
  'What happens in sessions, as it happens, over one WebSocket. Every frame is JSON with a `type` and a `payload`. ' +
  'A frame of the client with an `id` is answered by one `reply` or one `error` with that `id`; a refused frame never closes the socket. ' +
  'After a connection was lost, subscribe again with the `seq` of the last event you received: every event after it is sent, in order.';

const CLIENT_WORDS: Readonly<Record<ClientFrameType, string>> = {
  subscribe: 'Follow a session: its events after a seq, then live. The reply precedes the first event.',
  unsubscribe: 'Stop following a session.',
  watch:
    'Be told which nodes, files and folders change. It holds until the next one; all are off on a new socket. The reply comes after the states of the sessions that are open.',
  message: 'Send a message to the run of a session of yours.',
  answer: 'Answer an open question of a session of yours.',
  interrupt: 'End the current turn.',
  suspend: 'Suspend a running session.',
  close: 'Close a session for good.',
};
const SERVER_WORDS: Readonly<Record<ServerFrameType, string>> = {
  event: 'An event of the log of a session that you follow.',
  delta: 'Text that an agent is writing. It is neither stored nor replayed.',
  session_state:
    'State of a session that you see. Sent on connect for each one that runs or is suspended (at most 500, the last active first), again on each change, and for all of them when your access changes.',
  graph_changed:
    'Nodes that you see have changed: fields, edges, events, sharing. Sent after `watch`, at most four times a second.',
  files_changed: 'Files of nodes that you see have changed. Sent after `watch`, at most four times a second.',
  sync_changed:
    'The folders on this device of nodes that you see have come or gone, a scan of them has begun, gone on or ended, or something in them could not be taken in or is in order again: `GET /nodes/{node_id}/sync-status` answers all of it. Sent after `watch`, at most four times a second; never by a gateway, which has no folders.',
};

const Id = { type: ['string', 'number'], description: 'Chosen by the client, repeated by the answer.' };
const ErrorPayload = {
  type: 'object',
  required: ['code', 'message', 'request_id'],
  properties: {
    code: { type: 'string', enum: Object.keys(ERRORS) },
    message: { type: 'string' },
    details: { type: 'object', additionalProperties: true },
    request_id: { type: 'string' },
  },
};

/** The AsyncAPI 3.1 document of the live channel, built from the frames. */
export function asyncApiDocument(version: string): Json {
  const messages = { ...clientMessages(), ...serverMessages(), ...answers() };
  const names = Object.keys(messages);
  const isSent = (name: string): boolean => name in CLIENT_WORDS;
  return {
    asyncapi: '3.1.0',
    id: 'urn:workspace-graph:sessions',
    info: {
      title: 'Workspace Graph: live channel',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      tags: [{ name: 'Sessions', description: 'Records of what agents do.' }],
    },
    defaultContentType: 'application/json',
    servers: {
      workspace: {
        host: 'localhost:4011',
        protocol: 'ws',
        description: 'The service that serves this document.',
        security: [{ $ref: '#/components/securitySchemes/bearer' }],
      },
    },
    channels: {
      sessions: {
        address: SOCKET_PATH,
        description: 'Opening it needs the scope read; frames that change something need write.',
        messages: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
      },
    },
    operations: {
      receive: operation('receive', 'What clients send.', names.filter(isSent)),
      send: operation(
        'send',
        'What clients are sent.',
        names.filter((name) => !isSent(name)),
      ),
    },
    components: {
      messages,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A token, or a JWT of the identity provider.' },
      },
    },
  };
}

function operation(action: 'send' | 'receive', summary: string, names: readonly string[]): Json {
  return {
    action,
    summary,
    description: summary,
    channel: { $ref: '#/channels/sessions' },
    messages: names.map((name) => ({ $ref: `#/channels/sessions/messages/${name}` })),
  };
}

function clientMessages(): Record<string, Json> {
  const inputs: Readonly<Record<ClientFrameType, ObjectSchema>> = {
    ...FOLLOWING_FRAMES,
    message: DRIVING_FRAMES.message.input,
    answer: DRIVING_FRAMES.answer.input,
    interrupt: DRIVING_FRAMES.interrupt.input,
    suspend: DRIVING_FRAMES.suspend.input,
    close: DRIVING_FRAMES.close.input,
  };
  return Object.fromEntries(
    Object.entries(inputs).map(([type, schema]) => [
      type,
      message(type, CLIENT_WORDS[type as ClientFrameType], { id: Id, payload: jsonSchema(schema, 'input') }),
    ]),
  );
}

function serverMessages(): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(SERVER_FRAMES).map(([type, schema]) => [
      type,
      message(type, SERVER_WORDS[type as ServerFrameType], { payload: jsonSchema(schema, 'output') }),
    ]),
  );
}

function answers(): Record<string, Json> {
  const replies = [Subscribed, Watching, ...Object.values(DRIVING_FRAMES).map(({ output }) => output)];
  const anyOf = [...new Set(replies)].map((schema) => jsonSchema(schema, 'output'));
  return {
    reply: message('reply', 'A frame was carried out: what its REST route answers.', { id: Id, payload: { anyOf } }),
    error: message(
      'error',
      'A frame was refused; or, without an id, a subscription ended because the session is no longer there for you.',
      { id: Id, payload: ErrorPayload },
    ),
  };
}

function message(type: string, summary: string, properties: Json): Json {
  return {
    name: type,
    title: type,
    summary,
    contentType: 'application/json',
    payload: { type: 'object', required: ['type', 'payload'], properties: { type: { const: type }, ...properties } },
  };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-7', unrepresentable: 'any' });
  return rest;
}
