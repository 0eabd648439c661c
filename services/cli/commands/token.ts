import { text } from 'node:stream/consumers';
import type { EventStore } from '../../../shared/event-store/event-store.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { readAccessUpTo } from '../../access/access-control.ts';
import { openAccessKey } from '../../access/access-key.ts';
import { describeToken, type TokenDescription } from '../../access/describe-token.ts';
import { createTokenCommands, type TokenCommands } from '../../access/token-commands.ts';
import { parseTokenRequest } from '../../access/token-request.ts';
import { isTokenValue, LEAST_TOKEN, MOST_TOKEN } from '../../access/token-secret.ts';
import { requestOrOperator } from '../../command/current-author.ts';
import { logFolder } from '../../stores/open-event-store.ts';
import { quietLogger } from '../output/create-logger.ts';
import { textTable } from '../output/text-table.ts';
import { lookAtLogOf, requireLog, withLog } from '../settings/access-log.ts';
import { readContentTypes } from '../settings/read-content-types.ts';
import { InvalidSettings, type TokenSettings } from '../settings/settings.ts';

/** Options of `varve token create`. */
export type TokenOptions = {
  readonly name?: string;
  readonly type?: string;
  readonly allow?: string;
  readonly drafts?: boolean;
  readonly history?: boolean;
  readonly expires?: string;
  readonly tokenStdin?: boolean;
};

/**
 * `varve token create`: writes the secret alone to stdout, for scripts, and its description to stderr. A running server
 * accepts the token at once, because it reads the same log.
 */
export async function createToken(
  settings: TokenSettings,
  { tokenStdin, ...options }: TokenOptions,
): Promise<void> {
  const parsed = parseTokenRequest(options, await requiredTypes(settings), Date.now());
  if (parsed.kind === 'problems')
    throw new InvalidSettings(...parsed.problems.map(({ path, message }) => `--${path} ${message}`));
  requireLog(settings);
  const given = tokenStdin === true ? await readToken() : undefined;
  const before = await lookAtLogOf(settings, (log) => readAccessUpTo(log, settings.space));
  const create = (commands: TokenCommands) => commands.create(parsed.value, given);
  const { token, secret } = await withCommands(settings, create, true);
  if (before.development) console.error(DEVELOPMENT_ENDS);
  const { name, id, expiresAt } = token;
  const until = expiresAt === null ? 'does not expire' : `expires at ${expiresAt}`;
  if (given !== undefined)
    console.error(`Token "${name}" (${id}) ${until}. Clients that have it can continue to use it`);
  else {
    console.error(
      `Token "${name}" (${id}) ${until}. It is shown only once; send it as Authorization: Bearer`,
    );
    console.log(secret);
  }
}

const DEVELOPMENT_ENDS =
  'Development mode ends with this token, also for a running server: callers without a token now get 403 for everything. To let everyone read, start the server with --public, for example --public restaurant.find,restaurant.findOne';

/** Reads the value of a token from stdin, without the line end. Throws InvalidSettings. */
async function readToken(): Promise<string> {
  const value = (await text(process.stdin)).replace(/\r?\n$/, '');
  if (isTokenValue(value)) return value;
  throw new InvalidSettings(
    `--token-stdin expects a token of ${LEAST_TOKEN} to ${MOST_TOKEN} visible ASCII characters on stdin, got ${value.length} characters`,
  );
}

/** `varve token list` */
export async function listTokens(settings: TokenSettings): Promise<void> {
  requireLog(settings);
  const registry = await readTypes(settings);
  const tokens = await lookAtLogOf(settings, (log) => commandsOn(log, settings, NO_KEY).list());
  const lines = tokens.map((token) => columnsOf(describeToken(token, registry, Date.now())));
  if (lines.length === 0) console.error('There are no tokens.');
  else console.log(textTable([['ID', 'NAME', 'TYPE', 'STATUS', 'EXPIRES', 'MAY'], ...lines]));
}

/** `varve token revoke` */
export async function revokeToken(
  settings: TokenSettings,
  _options: object,
  idOrName: string,
): Promise<void> {
  requireLog(settings);
  const { token } = await withCommands(settings, (commands) => commands.revoke(idOrName));
  console.error(`Token "${token.name}" (${token.id}) is revoked.`);
}

/** Empty key for commands that make no token: only new tokens are hashed. */
const NO_KEY = Buffer.alloc(0);

function withCommands<Result>(
  settings: TokenSettings,
  run: (commands: TokenCommands) => Promise<Result>,
  makes = false,
): Promise<Result> {
  const { space, accessKey: given } = settings;
  return withLog(settings, async (log) => {
    const key = makes ? await openAccessKey({ log, space, folder: logFolder(settings), given }) : NO_KEY;
    return run(commandsOn(log, settings, key));
  });
}

function commandsOn(log: EventStore, { space }: TokenSettings, key: Buffer): TokenCommands {
  return createTokenCommands({ log, space, key, now: Date.now, author: requestOrOperator });
}

async function readTypes(settings: TokenSettings): Promise<SchemaRegistry | undefined> {
  const { contentTypes } = settings;
  if (contentTypes === undefined) return undefined;
  return (await readContentTypes({ ...settings, contentTypes }, await quietLogger())).registry;
}

/** Returns a getter for the content types, which only rights on content types need. */
async function requiredTypes(settings: TokenSettings): Promise<() => SchemaRegistry> {
  const registry = await readTypes(settings);
  return () => {
    if (registry !== undefined) return registry;
    throw new InvalidSettings(
      '--content-types (VARVE_CONTENT_TYPES) is missing: --allow names content types',
    );
  };
}

function columnsOf(token: TokenDescription): readonly string[] {
  const { id, name, type, status, expiresAt, allow, drafts, history } = token;
  const rights = type === 'custom' ? allow.join(', ') : type === 'full-access' ? 'everything' : 'read';
  const more = [...(drafts ? ['drafts'] : []), ...(history ? ['history'] : [])];
  const may = type === 'full-access' ? rights : [rights, ...more].join(', ');
  return [id, name, type, status, expiresAt ?? 'never', may];
}
