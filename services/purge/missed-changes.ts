import { isAboutContent } from '../../shared/events/about-content.ts';
import type { EffectiveEvents } from '../../shared/fleet/effective-events.ts';

/** Maximum number of events that are read. */
const MOST = 10_000;

/** Returns whether the log may have content events between two positions. */
export async function changesContent(
  events: Pick<EffectiveEvents, 'after'>,
  after: bigint,
  upTo: bigint,
): Promise<boolean> {
  // A graph at an earlier position was made in another way.
  if (after > upTo) return true;
  if (after === upTo) return false;
  let seen = 0;
  for await (const event of events.after(after, { until: upTo })) {
    seen += 1;
    // Rights are part of the shape, which is compared separately.
    if (seen > MOST || isAboutContent(event)) return true;
  }
  return false;
}
