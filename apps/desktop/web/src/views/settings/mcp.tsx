import {
  AGENT_CLIENTS,
  AGENT_CONFIG_PATHS,
  AGENT_TOKEN_VARIABLE,
  agentConfig,
  VIBE_COMMAND,
} from '@workspace-graph/contracts';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isOnThisMachine } from '../../api/page-facts';
import { useMe } from '../../node/node-query';
import { WithCommands } from '../../parts/commands';
import { Copy } from '../../parts/copy';
import { Choice } from './choice';
import { Row } from './row';
import { WorkspaceToken } from './workspace-token';

/** Where agents connect, with what, and how they are told. */
export function Mcp() {
  const { t } = useTranslation();
  const me = useMe();
  const url = `${location.origin}/mcp`;
  const isTls = location.protocol === 'https:';
  return (
    <>
      <Row label={t('mcp.address')}>
        <span className="row">
          <span className="input ro mono">
            <span className="cut">{url}</span>
          </span>
          <Copy text={url} label={t('mcp.copy_address')} />
        </span>
      </Row>
      <Row label={t('mcp.port')}>
        <span className="mono">{location.port || (isTls ? '443' : '80')}</span>
      </Row>
      {isOnThisMachine && me.scope === 'manage' ? (
        <WorkspaceToken />
      ) : (
        <Row label={t('mcp.token')}>
          <WithCommands text="mcp.own_token" values={{ command: AGENT_TOKEN_VARIABLE }} />
        </Row>
      )}
      <Clients url={url} />
    </>
  );
}

/** What each agent client is given to connect. */
function Clients({ url }: { readonly url: string }) {
  const { t } = useTranslation();
  const [client, setClient] = useState<(typeof AGENT_CLIENTS)[number]>('claude-code');
  const text = agentConfig(client, url);
  return (
    <>
      <Choice
        label={t('mcp.client')}
        options={AGENT_CLIENTS.map((value) => ({ value, text: t(`mcp.clients.${value}`) }))}
        chosen={client}
        onChoose={setClient}
      />
      <div className="config">
        <div className="row">
          <span className="f12 t3">
            <WithCommands text="mcp.into" values={{ command: AGENT_CONFIG_PATHS[client] }} />
          </span>
          <span className="push">
            <Copy text={`${text}\n`} label={t('mcp.copy_config')} />
          </span>
        </div>
        <pre className="mono">{text}</pre>
        {client === 'mistral-vibe' && (
          <p className="f12">
            <WithCommands text="mcp.profile" values={{ command: VIBE_COMMAND }} />
          </p>
        )}
        <p className="f12">
          <WithCommands
            text={isOnThisMachine ? 'mcp.variable_local' : 'mcp.variable_central'}
            values={{ variable: AGENT_TOKEN_VARIABLE, command: 'eval "$(svc agent env)"', mirror: 'svc mirror create' }}
          />
        </p>
      </div>
    </>
  );
}
