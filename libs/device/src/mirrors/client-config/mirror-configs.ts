import { Inject, Injectable } from '@nestjs/common';
import type { Caller, ClientConfigFile, Context } from '@workspace-graph/contracts';
import type { z } from 'zod';
import type { MirrorRow } from '../../store/device-store.js';
import { HandoffFiles } from '../handoff-files.js';
import { SCOPE_FILE } from '../scope-file.js';
import { AgentConfigs } from './agent-configs.js';
import { removeOwnFiles } from './own-files.js';
import { ScopeFiles } from './scope-files.js';
import { ScopeFollower } from './scope-follower.js';

type ConfigFile = z.infer<typeof ClientConfigFile>;

/**
 * What we keep in the folders of nodes for agents: one entry in the configuration of each agent client,
 * SVC_SCOPE.md, and handoffs of sessions. What somebody else wrote there stays as it is.
 */
@Injectable()
export class MirrorConfigs {
  constructor(
    @Inject(AgentConfigs) private readonly agents: AgentConfigs,
    @Inject(ScopeFiles) readonly scopes: ScopeFiles,
    @Inject(HandoffFiles) private readonly handoffs: HandoffFiles,
    @Inject(ScopeFollower) private readonly follower: ScopeFollower,
  ) {}

  /** Writes what is not there or not up to date. `graph` is what `author` sees. Call it while the node is locked. */
  async write(row: MirrorRow, graph: z.infer<typeof Context>, author: Caller): Promise<ConfigFile[]> {
    const agents = await this.agents.write(row);
    return [...agents, { client: 'scope', path: SCOPE_FILE, state: await this.scopes.write(row, graph, author) }];
  }

  /** Takes our entries and files out of the folder. Call it while the node is locked. */
  async remove(row: MirrorRow): Promise<void> {
    await removeOwnFiles(row, this.agents.own);
    this.handoffs.forget(row);
  }

  /**
   * Looks in the background whether the address in the folders is the present one, and whether what SVC_SCOPE.md tells
   * still is so. To be called once the process listens.
   */
  refreshInBackground(): void {
    this.follower.noteAll();
    this.agents.refreshInBackground();
  }

  /** Ends when a refresh under way has ended. */
  async settled(): Promise<void> {
    await this.agents.settled();
  }
}
