import { type Channel, connectivityState } from '@grpc/grpc-js';
import type { NodeChannel } from './kurrentdb-channel.ts';

export type ProvenChannel = ReturnType<typeof proveChannels>;

/**
 * Lets calls wait until the history was proven over each new connection. A channel connects again by itself, so it is proven again when it
 * was open and is not any more. `unproven` returns a channel without a proof.
 */
export function proveChannels(channel: NodeChannel, prove: () => Promise<void>) {
  const proofs = new WeakMap<Channel, { readonly proof: Promise<void>; wasOpen: boolean }>();
  const proven = (on: Channel): Promise<void> => {
    const known = proofs.get(on);
    if (known !== undefined && (!known.wasOpen || isOpen(on))) return known.proof;
    // The caller handles it, and a later call tries again.
    const made = { proof: proveOn(on), wasOpen: false };
    proofs.set(on, made);
    made.proof.catch(() => proofs.delete(on));
    return made.proof;
  };
  const proveOn = async (on: Channel): Promise<void> => {
    const wasOpen = await opens(on);
    await prove();
    const made = proofs.get(on);
    if (made !== undefined) made.wasOpen = wasOpen;
  };
  return {
    ...channel,
    async current(): Promise<Channel> {
      const on = await channel.current();
      await proven(on);
      return on;
    },
    unproven: channel.current,
  };
}

function isOpen(on: Channel): boolean {
  return on.getConnectivityState(false) === connectivityState.READY;
}

const OPEN_WITHIN_MS = 5_000;

/** Opens a channel's connection. Resolves to whether it is open. */
async function opens(on: Channel): Promise<boolean> {
  const deadline = Date.now() + OPEN_WITHIN_MS;
  for (;;) {
    const state = on.getConnectivityState(true);
    const isConnecting = state === connectivityState.IDLE || state === connectivityState.CONNECTING;
    if (!isConnecting) return state === connectivityState.READY;
    const isLate = await new Promise<boolean>((resolve) =>
      on.watchConnectivityState(state, deadline, (error) => resolve(error !== undefined)),
    );
    if (isLate) return false;
  }
}
