import { CONTENT_TYPES, ROOT } from './bench-data.ts';
import { type ServerProcess, startProcess } from './server-process.ts';

export type StartVarve = {
  readonly data: string;
  /** The checkout that serves. Default: this one. */
  readonly checkout?: string;
  /** Default: those of the conformance corpus. */
  readonly contentTypes?: string;
  readonly more?: readonly string[];
  /** The path that has to answer first. Default: `/_health`. */
  readonly until?: '/_health' | '/health/ready';
};

/** Starts `varve serve` on a free port, with the same size of the young heap as `npm start`. */
export function startVarve(options: StartVarve): Promise<ServerProcess> {
  const { data, checkout = ROOT, contentTypes = CONTENT_TYPES, more = [], until = '/_health' } = options;
  const serve = ['--min-semi-space-size=32', 'services/cli/varve.ts', 'serve', '--port', '0'];
  return startProcess([...serve, '--content-types', contentTypes, '--data', data, ...more], checkout, until);
}
