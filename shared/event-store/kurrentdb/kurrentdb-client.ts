import {
  type CallOptions,
  type Channel,
  type ChannelCredentials,
  type ChannelOptions,
  type Client,
  Metadata,
  type MetadataValue,
  status,
} from '@grpc/grpc-js';
import serverFeatures from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/serverfeatures_grpc_pb.js';
import type featuresPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/serverfeatures_pb.js';
import sharedPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb.js';
import { valueAt } from '../../map-values.ts';
import type { Address, Credentials } from './kurrentdb-address.ts';
import { createNodeChannel } from './kurrentdb-channel.ts';
import { failureOf } from './kurrentdb-failure.ts';
import type { Gossip } from './kurrentdb-gossip.ts';
import { type ProvenChannel, proveChannels } from './kurrentdb-proven-channel.ts';

/** Features that a server reports. */
export type ServerFeatures = {
  /** `unknown` if the server does not report it. */
  readonly version: string;
  /** Paths of its gRPC methods in lower case. */
  readonly methods: ReadonlySet<string>;
};

/** Called for the channels of a client, and shared by them. */
export type ChannelWatch = {
  /** Nodes that any channel to this cluster has heard of. */
  readonly gossip: Gossip;
  /** No node answers for the first time. */
  readonly searching: () => void;
  /** Proves, before the first call over a new channel, that the log still has the history that this process has read. */
  readonly prove: () => Promise<void>;
};

/** Calls of the server's protocol on a channel. */
export type NodeClient = {
  readonly channel: ProvenChannel;
  /** Returns the client of a gRPC service on this channel. */
  stub<Stub extends Client>(service: StubConstructor<Stub>, channel: Channel): Stub;
  /** Returns metadata and options of a call, including credentials. */
  callArguments(settings: CallSettings): [Metadata, CallOptions];
  features(): Promise<ServerFeatures>;
  close(): void;
};

export type CallSettings = {
  readonly requiresLeader?: boolean;
  /** Deadline in milliseconds. Default: none. */
  readonly deadline?: number;
};

type StubConstructor<Stub extends Client> = new (
  address: string,
  credentials: ChannelCredentials,
  options?: Partial<ChannelOptions>,
) => Stub;

/**
 * Metadata of a call that accepts only uncompressed messages. KurrentDB 26.1 compresses each message with gzip if the call accepts it. The
 * channel of grpc-js (1.14) says in every call that it does, and makes a zlib stream for each message. It has no setting for this.
 */
class CallMetadata extends Metadata {
  override set(key: string, value: MetadataValue): void {
    super.set(key, key === 'grpc-accept-encoding' ? 'identity' : value);
  }
  override clone(): CallMetadata {
    const copy = new CallMetadata(this.getOptions());
    copy.merge(this);
    return copy;
  }
}

/** Deadline of the request for the features, which every server answers immediately. */
const FEATURES_DEADLINE_MS = 5_000;

/**
 * Creates the calls of the protocol from the messages that the official client (1.3.1) contains. The client itself is not used: its
 * connection management ends the process or waits forever in these cases.
 *
 * - A cluster without a majority, and a batch call that breaks, cause rejections that nothing can handle. So do errors in the conversion
 *   of an event of a subscription.
 * - A failed request for the server's features is cached until the channel is replaced.
 * - Reads, which the Rust half (`@kurrent/bridge` 0.2.2) does, never look for another node. Neither its memory nor its sockets can be
 *   released.
 * - It does not leave a node whose deadline passes.
 */
export function createNodeClient(address: Address, watch: ChannelWatch): NodeClient {
  const channel = proveChannels(createNodeChannel(address, watch), watch.prove);
  const stubs = new WeakMap<Channel, Map<unknown, Client>>();

  const stub = <Stub extends Client>(service: StubConstructor<Stub>, on: Channel): Stub => {
    const known = valueAt(stubs, on, () => new Map<unknown, Client>());
    const make = () => new service('unused', address.channelCredentials, { channelOverride: on });
    return valueAt(known, service, make) as Stub;
  };
  const callArguments = ({ requiresLeader, deadline }: CallSettings): [Metadata, CallOptions] => {
    const metadata = new CallMetadata();
    if (requiresLeader === true) metadata.set('requires-leader', 'true');
    // A server without TLS asks for no password, and the network would show it.
    if (address.tls && address.credentials !== undefined)
      metadata.set('authorization', authorizationOf(address.credentials()));
    return [metadata, deadline === undefined ? {} : { deadline: Date.now() + deadline }];
  };
  const asked = new WeakMap<Channel, Promise<ServerFeatures>>();
  const features = async (): Promise<ServerFeatures> => {
    const on = await channel.current();
    const known = asked.get(on);
    if (known !== undefined) return known;
    const call = callArguments({ deadline: FEATURES_DEADLINE_MS });
    const asking = askFeatures(stub(serverFeatures.ServerFeaturesClient, on), call);
    asked.set(on, asking);
    asking.catch((error) => {
      asked.delete(on);
      channel.lost(on, error);
    });
    return asking;
  };
  return { channel, stub, callArguments, features, close: channel.close };
}

function authorizationOf({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function askFeatures(
  stub: InstanceType<typeof serverFeatures.ServerFeaturesClient>,
  call: [Metadata, CallOptions],
): Promise<ServerFeatures> {
  return new Promise((resolve, reject) => {
    stub.getSupportedMethods(new sharedPb.Empty(), ...call, (error, methods) => {
      if (error === null) resolve(featuresOf(methods));
      else if (error.code === status.UNIMPLEMENTED) resolve({ version: 'unknown', methods: new Set() });
      else reject(failureOf(error));
    });
  });
}

function featuresOf(supported: featuresPb.SupportedMethods): ServerFeatures {
  return {
    version: supported.getEventStoreServerVersion(),
    methods: new Set(
      supported
        .getMethodsList()
        .map((method) => `/${method.getServiceName()}/${method.getMethodName()}`.toLowerCase()),
    ),
  };
}
