import { AGENT_TOKEN_VARIABLE, revealWorkspaceToken, rotateWorkspaceToken } from '@workspace-graph/contracts';
import { Eye, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../../api/change';
import { queries } from '../../api/client';
import { WithCommands } from '../../parts/commands';
import { Confirm } from '../../parts/confirm';
import { Refused } from '../../parts/problem';
import { Secret } from '../../parts/secret';
import { tell } from '../../parts/toasts';
import { Row } from './row';

const HIDDEN = `svc_dev_${'•'.repeat(20)}`;

/** The own token of a local workspace: shown on demand, replaced after a question. */
export function WorkspaceToken() {
  const { t } = useTranslation();
  const [secret, setSecret] = useState<string | null>(null);
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const reveal = async () => {
    setError(null);
    try {
      // Not as a mutation: those keep their last answer.
      setSecret((await change(revealWorkspaceToken, {})).secret);
    } catch (cause) {
      setError(cause);
    }
  };
  const rotate = async () => {
    await change(rotateWorkspaceToken, {});
    setSecret(null);
    setAsking(false);
    tell(t('mcp.is_rotated'));
    await queries.invalidateQueries({ queryKey: ['tokens'] });
  };
  return (
    <>
      <Row label={t('mcp.token')} help={t('mcp.token_place')}>
        {secret === null ? (
          <span className="row">
            <span className="input ro mono t3" aria-hidden="true">
              <span className="cut">{HIDDEN}</span>
            </span>
            <button type="button" className="btn" onClick={() => void reveal()}>
              <Eye className="i" aria-hidden="true" />
              {t('mcp.reveal')}
            </button>
            <button type="button" className="btn" aria-expanded={isAsking} onClick={() => setAsking(true)}>
              <RotateCw className="i" aria-hidden="true" />
              {t('mcp.rotate')}
            </button>
          </span>
        ) : (
          <Secret
            secret={secret}
            label={t('mcp.workspace_token')}
            forget={t('mcp.hide')}
            onForget={() => setSecret(null)}
          />
        )}
        <Refused error={error} />
      </Row>
      {isAsking && (
        <Confirm
          title={t('mcp.rotate_title')}
          action={t('mcp.rotate')}
          onConfirm={rotate}
          onLeave={() => setAsking(false)}
        >
          <p>
            <WithCommands
              text="mcp.rotate_ends"
              values={{ variable: AGENT_TOKEN_VARIABLE, command: 'eval "$(svc agent env)"' }}
            />
          </p>
          <p>{t('mcp.rotate_keeps')}</p>
        </Confirm>
      )}
    </>
  );
}
