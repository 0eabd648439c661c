import { z } from 'zod';
import type { TagReceiver } from '../../delivery/tag-headers.ts';
import { PURGE_KINDS, type PurgeKind, type PurgeTarget } from '../../purge/purge-target.ts';
import { hasCredentials } from '../../webhooks/webhook-request.ts';
import { isEmbedded, type ReadIndexChoice } from './read-index-settings.ts';
import { duration, type SettingsOf, type SettingsTable, yesOrNo } from './setting.ts';

const KIND = /^([a-z]+)=(.+)$/s;
/** Commas separate receivers, but an address may contain commas too. */
const BETWEEN = new RegExp(`,(?=(?:${PURGE_KINDS.join('|')})=)`);

export const PURGE_SETTINGS = {
  purge: {
    flags: '--purge <receivers>',
    description:
      'purge changed answers from these caches: varnish=URL, fastly=SERVICE, cloudflare=ZONE or webhook=URL, separated by commas (default: none; caches ask Varve each time)',
    schema: z
      .string()
      .transform((text, context) => {
        const targets = text.split(BETWEEN).map(targetOf);
        const wrong = targets.find((target) => typeof target === 'string');
        if (wrong === undefined) return targets as PurgeTarget[];
        context.addIssue({ code: 'custom', message: String(wrong) });
        return z.NEVER;
      })
      .optional(),
  },
  purgeToken: {
    flags: '--purge-token <secret>',
    isSecret: true,
    description:
      'secret for purges: an API token of Fastly or Cloudflare; other caches get it as Authorization: Bearer. Prefer VARVE_PURGE_TOKEN or VARVE_PURGE_TOKEN_FILE',
    schema: z.string().min(1, 'is empty').optional(),
  },
  purgeSoft: {
    flags: '--purge-soft [boolean]',
    description: 'let caches serve a purged answer once more while they request a new one (default: false)',
    schema: yesOrNo.default(false),
  },
  purgeAgain: {
    flags: '--purge-again <duration>',
    description:
      'time after which each change is purged a second time, because an old answer may have been on its way to a cache; 0: never (default: 5s with Elasticsearch, which is the minimum there; else 2s for fastly and cloudflare, 0 for the others)',
    schema: z
      .string()
      .transform((text) => (/^\d+$/.test(text) ? `${text}ms` : text))
      .pipe(duration)
      .refine((ms) => ms <= 600_000, 'must be at most 10m')
      .optional(),
  },
} as const satisfies SettingsTable;

/** Returns the receiver, or the problem. */
function targetOf(text: string): PurgeTarget | string {
  const [, kind = '', address = ''] = KIND.exec(text.trim()) ?? [];
  if (!(PURGE_KINDS as readonly string[]).includes(kind))
    return `must begin with one of ${PURGE_KINDS.map((one) => `${one}=`).join(', ')}, got "${text}"`;
  const isUrl = kind === 'varnish' || kind === 'webhook';
  if (isUrl && !(/^https?:\/\//i.test(address) && URL.canParse(address)))
    return `must have an http or https URL after ${kind}=`;
  if (isUrl && hasCredentials(address)) return 'must not contain a user or password: pass --purge-token';
  if (!isUrl && !/^[\w-]+$/.test(address)) return `must have an id after ${kind}=, got "${address}"`;
  return { kind: kind as PurgeKind, address };
}

type PurgeChoice = SettingsOf<typeof PURGE_SETTINGS> & ReadIndexChoice;

/** Caches with distant nodes: an answer from before a change may reach them after its purge. */
const FAR_AWAY: readonly PurgeKind[] = ['fastly', 'cloudflare'];
const AGAIN_AFTER_MS = 2_000;
/** Longer than answers of other processes can be on their way, see purge/purging-leader.ts. */
const OUTSIDE_AGAIN_AFTER_MS = 5_000;

/** Returns the receivers of purges; undefined if there are none. */
export function purgeChoice(choice: PurgeChoice) {
  const { purge, purgeToken: token, purgeSoft: soft, purgeAgain } = choice;
  if (purge === undefined) return undefined;
  const usual = ({ kind }: PurgeTarget) => {
    if (!isEmbedded(choice)) return OUTSIDE_AGAIN_AFTER_MS;
    return FAR_AWAY.includes(kind) ? AGAIN_AFTER_MS : 0;
  };
  const targets = purge.map((target): PurgeTarget => {
    const againAfterMs = purgeAgain ?? usual(target);
    return againAfterMs > 0 ? { ...target, againAfterMs } : target;
  });
  return { targets, style: { soft, token } };
}

type PurgedChoice = Pick<PurgeChoice, 'purge'> & { readonly cacheTags: TagReceiver | 'none' };

/** Returns a problem if no receiver purges the cache that --cache-tags names, because answers would stay in it. */
export function purgeProblem({ cacheTags, purge }: PurgedChoice): string | undefined {
  if (purge === undefined || cacheTags === 'none') return undefined;
  const fitting = PURGE_KINDS.filter((kind) => kind === cacheTags || kind === 'webhook');
  if (purge.some(({ kind }) => fitting.includes(kind))) return undefined;
  const receivers = fitting.map((kind) => `${kind}=`).join(' or ');
  return `--purge (VARVE_PURGE) must have ${receivers} together with --cache-tags ${cacheTags}: otherwise that cache would keep answers for a year, and nothing would purge them`;
}

/** Returns a problem if the second purge could come before answers that other processes have made from Elasticsearch. */
export function purgeAgainProblem(
  choice: Pick<PurgeChoice, 'purgeAgain'> & ReadIndexChoice,
): string | undefined {
  const { purgeAgain } = choice;
  if (purgeAgain === undefined || purgeAgain >= OUTSIDE_AGAIN_AFTER_MS || isEmbedded(choice))
    return undefined;
  return `--purge-again (VARVE_PURGE_AGAIN) must be at least 5s with Elasticsearch, got ${purgeAgain}ms: an answer of another process may be on its way to a cache for so long`;
}
