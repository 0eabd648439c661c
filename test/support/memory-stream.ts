import type { EventStream } from '../../services/http/streams/event-streams.ts';

/** A stream of server-sent events that keeps its text in memory. */
export type MemoryStream = EventStream & { text(): string };

export function createMemoryStream(): MemoryStream {
  let [text, isOpen] = ['', true];
  return {
    isOpen: () => isOpen,
    send(frames) {
      text += frames;
    },
    drained: async () => {},
    end(frames = '') {
      text += frames;
      isOpen = false;
    },
    pulse: () => '',
    closed: () => {},
    text: () => text,
  };
}
