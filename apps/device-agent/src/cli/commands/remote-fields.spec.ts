import { credentialsOf, readFields } from './remote-fields.js';

describe('the fields of a remote', () => {
  it('are texts, and numbers and switches where no text is taken', () => {
    const texts = ['bucket=files', 'endpoint=https://s3.example.org', 'path_style=false', 'root=2026'];
    expect(readFields('objstore', texts)).toEqual({
      bucket: 'files',
      endpoint: 'https://s3.example.org',
      path_style: false,
      root: '2026',
    });
    expect(readFields('sftp', ['port=2222'])).toEqual({ port: 2222 });
  });

  it('need a name and a value, of which those are named that there are', () => {
    expect(() => readFields('drive', ['shared_drive_id'])).toThrow('--set takes FIELD=VALUE, not shared_drive_id.');
  });

  it('take the key of a service account as Google gives it out', () => {
    const key = { type: 'service_account', client_email: 'a@b.example', private_key: 'PEM' };
    expect(credentialsOf('drive', key)).toEqual({ service_account_json: JSON.stringify(key) });
    const named = { service_account_json: '{}' };
    expect(credentialsOf('drive', named)).toEqual({ credentials: named });
    expect(credentialsOf('sftp', { private_key: 'PEM' })).toEqual({ credentials: { private_key: 'PEM' } });
  });
});
