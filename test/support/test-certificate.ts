import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type TestCertificate = {
  readonly key: Buffer;
  readonly certificate: Buffer;
  /** PEM file of the authority that signed the certificate. */
  readonly authorityFile: string;
  remove(): void;
};

/** Creates a certificate for localhost, signed by a new authority and valid for a day, with the openssl command. */
export const createTestCertificate = (): TestCertificate => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-tls-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Varve test authority');
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const issued = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-addext', 'basicConstraints=critical,CA:FALSE'];
  openssl('req', '-x509', ...key, ...name, ...issued, '-keyout', 'node.key', '-out', 'node.pem');
  return {
    key: readFileSync(join(folder, 'node.key')),
    certificate: readFileSync(join(folder, 'node.pem')),
    authorityFile: join(folder, 'ca.pem'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
