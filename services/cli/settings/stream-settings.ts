import { STREAM_LIMITS, type StreamLimits } from '../../http/streams/event-streams.ts';
import { type SettingsOf, type SettingsTable, wholeNumber } from './setting.ts';

export const STREAM_SETTINGS = {
  streams: {
    flags: '--streams <number>',
    description:
      'maximum number of open streams of server-sent events in this process, or in all its workers together (default: 20000)',
    schema: wholeNumber(0, 1_000_000).default(STREAM_LIMITS.total),
  },
  streamsPerCaller: {
    flags: '--streams-per-caller <number>',
    description:
      'maximum number of open streams of one caller: a token, a user, or an address without a token. All workers count together (default: 1000)',
    schema: wholeNumber(0, 1_000_000).default(STREAM_LIMITS.perCaller),
  },
  streamHeartbeat: {
    flags: '--stream-heartbeat <ms>',
    description: 'time in milliseconds between two heartbeats on a stream (default: 15000)',
    schema: wholeNumber(10, 25_000).default(STREAM_LIMITS.heartbeatMs),
  },
} as const satisfies SettingsTable;

/** Returns the limits of streams. Those without a setting have their defaults. */
export function streamLimits(settings: SettingsOf<typeof STREAM_SETTINGS>): StreamLimits {
  return {
    ...STREAM_LIMITS,
    total: settings.streams,
    perCaller: settings.streamsPerCaller,
    heartbeatMs: settings.streamHeartbeat,
  };
}
