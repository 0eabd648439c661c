import { z } from 'zod';
import { commaList } from '../../../shared/comma-list.ts';
import { httpAddress, type SettingsTable, wholeNumber } from './setting.ts';
import { STREAM_SETTINGS } from './stream-settings.ts';
import { WORKER_SETTINGS } from './worker-settings.ts';

/** Returns whether a text is `*` or an origin as browsers send it: scheme, host and port, without a path. */
export function isOrigin(text: string): boolean {
  return text === '*' || (URL.canParse(text) && new URL(text).origin === text);
}

/** Settings for connections, and for limits of requests. */
export const NETWORK_SETTINGS = {
  port: {
    flags: '--port <number>',
    description: 'port to listen on; 0: any free port (default: 1337)',
    schema: wholeNumber(0, 65_535).default(1337),
  },
  host: {
    flags: '--host <address>',
    description:
      'address to listen on; an address that is not loopback requires access tokens or --public (default: 127.0.0.1)',
    schema: z.string().min(1, 'is empty: pass an address').default('127.0.0.1'),
  },
  advertise: {
    flags: '--advertise <url>',
    description:
      'URL at which the other processes of the log reach this process, such as http://10.0.0.7:1337 (default: the address that it listens on)',
    schema: httpAddress.optional(),
  },
  cors: {
    flags: '--cors <origins>',
    description:
      'origins of web pages that may call the API from a browser, such as https://example.org, or * for all (default: those in config/middlewares, else none)',
    schema: z
      .string()
      .transform(commaList)
      .refine((origins) => origins.every(isOrigin), 'must be a list of origins such as https://example.org')
      .optional(),
  },
  rateLimit: {
    flags: '--rate-limit <number>',
    description: 'maximum number of requests per minute from one address; 0: no limit (default: 0)',
    schema: wholeNumber(0, 1_000_000_000).default(0),
  },
  trustProxy: {
    flags: '--trust-proxy <addresses>',
    description:
      'addresses of proxies whose X-Forwarded-For is trusted, such as loopback,10.0.0.0/8 (default: none)',
    schema: z.string().min(1, 'is empty: pass addresses').optional(),
  },
  minPositionWait: {
    flags: '--min-position-wait <ms>',
    description:
      'maximum time in milliseconds that a read with Varve-Min-Position waits; then the answer is a 503 (default: 5000)',
    schema: wholeNumber(0, 600_000).default(5_000),
  },
  bodyLimit: {
    flags: '--body-limit <bytes>',
    description: 'maximum size of a request body in bytes (default: 1048576)',
    schema: wholeNumber(1, 1_073_741_824).default(1_048_576),
  },
  ...STREAM_SETTINGS,
  ...WORKER_SETTINGS,
} as const satisfies SettingsTable;
