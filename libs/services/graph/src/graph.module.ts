import { Module } from '@nestjs/common';
import { AccessHandlers } from './access/access.handlers.js';
import { AccessRequestHandlers } from './access/request.handlers.js';
import { ActorHandlers } from './actors/actor.handlers.js';
import { AuditHandlers } from './audit/audit.handlers.js';
import { ContextHandlers } from './context/context.handlers.js';
import { EdgeHandlers } from './edges/edge.handlers.js';
import { EventHandlers } from './events/event.handlers.js';
import { LinkHandlers } from './links/link.handlers.js';
import { NodeHandlers } from './nodes/node.handlers.js';
import { OverviewHandlers } from './overview/overview.handlers.js';
import { ReferenceHandlers } from './references/reference.handlers.js';
import { ResponsibilityHandlers } from './responsibilities/responsibility.handlers.js';
import { SearchHandlers } from './search/search.handlers.js';
import { SnapshotHandlers } from './snapshot/snapshot.handlers.js';
import { SnapshotMemory } from './snapshot/snapshot-memory.js';
import { ExportHandlers } from './transfer/export.handlers.js';
import { ImportHandlers } from './transfer/import.handlers.js';
import { UndoHandlers } from './undo/undo.handlers.js';

/** The graph service: handlers of every operation owned by `graph`. Needs DatabaseModule and OperationsModule. */
@Module({
  controllers: [
    AccessHandlers,
    AccessRequestHandlers,
    ReferenceHandlers,
    NodeHandlers,
    EdgeHandlers,
    ResponsibilityHandlers,
    LinkHandlers,
    ActorHandlers,
    EventHandlers,
    ContextHandlers,
    ImportHandlers,
    ExportHandlers,
    SearchHandlers,
    OverviewHandlers,
    AuditHandlers,
    SnapshotHandlers,
    UndoHandlers,
  ],
  providers: [SnapshotMemory],
})
export class GraphModule {}
