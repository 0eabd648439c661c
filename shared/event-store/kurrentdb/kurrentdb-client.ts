import {
  type CallOptions,
  type Channel,
  type ChannelCredentials,
  type ChannelOptions,
  type Client,
  Metadata,
  status,
} from '@grpc/grpc-js';
import { type Credentials, convertToCommandError, KurrentDBClient } from '@kurrent/kurrentdb-client';
import serverFeatures from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/serverfeatures_grpc_pb.js';
import type featuresPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/serverfeatures_pb.js';
import sharedPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb.js';
import { valueAt } from '../../map-values.ts';
import type { Address } from './kurrentdb-address.ts';
import { type ChannelPace, createNodeChannel, type NodeChannel } from './kurrentdb-channel.ts';
import { isNodeLost } from './kurrentdb-failure.ts';

/** Features that a server reports. */
export type ServerFeatures = {
  /** `unknown` if the server does not report it. */
  readonly version: string;
  /** Paths of its gRPC methods in lower case. */
  readonly methods: ReadonlySet<string>;
};

/** The official client, which uses a channel that we manage. */
export type NodeClient = {
  readonly client: KurrentDBClient;
  readonly channel: NodeChannel;
  /** Returns the client of a gRPC service on this channel. */
  stub<Stub extends Client>(service: StubConstructor<Stub>, channel: Channel): Stub;
  /** Returns metadata and options of a call, including credentials. */
  callArguments(options: CallSettings): [Metadata, CallOptions];
  features(): Promise<ServerFeatures>;
  close(): Promise<void>;
};

export type CallSettings = {
  readonly requiresLeader?: boolean;
  /** Deadline in milliseconds; Infinity for none. */
  readonly deadline?: number;
  readonly credentials?: Credentials;
};

type StubConstructor<Stub extends Client> = new (
  address: string,
  credentials: ChannelCredentials,
  options?: Partial<ChannelOptions>,
) => Stub;

/** Members that the client's class hides from its types. All are properties of the object, so they can be replaced. */
type Internals = {
  callArguments(options: object, callOptions?: CallOptions): [Metadata, CallOptions];
  getGRPCClient(service: StubConstructor<Client>): Promise<Client>;
  handleError(client: Client, error: Error): Promise<void>;
  supports(method: { readonly path: string }): Promise<boolean>;
};

/** Deadline of the request for the features, which every server answers immediately. */
const FEATURES_DEADLINE_MS = 5_000;

/**
 * Makes the client (1.3.1) use our channel. Its own connection management ends the process or waits forever in these cases:
 *
 * - `handleError` awaits a channel whose discovery rejects, and nothing awaits `handleError`. So a cluster without a majority causes an
 *   unhandled rejection. Here: replaced, and discovery continues a million times.
 * - `BatchAppend`: when the shared stream breaks, appends queued on it reject in an executor that nothing awaits. Here: done without the
 *   client (kurrentdb-batch-append.ts).
 * - `checkpointReached` and the conversion of an event run inside an async `_transform`: errors there are unhandled. Here: the calls are
 *   read without the client's `Subscription` (kurrentdb-read.ts).
 * - The server's features are fetched without a deadline, and a failure is cached until the channel is replaced. Here: requested again.
 * - The Rust half (`@kurrent/bridge` 0.2.2), which does the reads, never looks for another node. Neither its handle (0.1 to 0.2 MB) nor its
 *   sockets can be released. Here: not used; one handle is made with the client and stays unconnected.
 * - The client does not leave a node whose deadline passes. Here: it does.
 */
export function createNodeClient(address: Address, pace: ChannelPace, searching?: () => void): NodeClient {
  const client = KurrentDBClient.connectionString(address.text);
  const internals = client as unknown as Internals;
  const channel = createNodeChannel(address, pace, searching);
  const stubs = new WeakMap<Channel, Map<unknown, Client>>();

  const stub = <Stub extends Client>(service: StubConstructor<Stub>, on: Channel): Stub => {
    const known = valueAt(stubs, on, () => new Map<unknown, Client>());
    const make = () => new service('unused', address.channelCredentials, { channelOverride: on });
    return valueAt(known, service, make) as Stub;
  };
  const asked = new WeakMap<Channel, Promise<ServerFeatures>>();
  const features = async (): Promise<ServerFeatures> => {
    const on = await channel.current();
    const known = asked.get(on);
    if (known !== undefined) return known;
    const asking = askFeatures(stub(serverFeatures.ServerFeaturesClient, on));
    asked.set(on, asking);
    asking.catch((error) => {
      asked.delete(on);
      channel.lost(on, error);
    });
    return asking;
  };
  internals.getGRPCClient = async (service) => stub(service, await channel.current());
  internals.handleError = async (failed, error) => {
    if (isNodeLost(error)) channel.lost(failed.getChannel() as Channel, convertToCommandError(error));
  };
  internals.supports = async ({ path }) => (await features()).methods.has(path.toLowerCase());
  return {
    client,
    channel,
    stub,
    callArguments: ({ deadline = Number.POSITIVE_INFINITY, ...options }) =>
      internals.callArguments({ ...options, deadline }),
    features,
    async close() {
      channel.close();
      await client.dispose();
    },
  };
}

function askFeatures(
  stub: InstanceType<typeof serverFeatures.ServerFeaturesClient>,
): Promise<ServerFeatures> {
  return new Promise((resolve, reject) => {
    const deadline = Date.now() + FEATURES_DEADLINE_MS;
    stub.getSupportedMethods(new sharedPb.Empty(), new Metadata(), { deadline }, (error, methods) => {
      if (error === null) resolve(featuresOf(methods));
      else if (error.code === status.UNIMPLEMENTED) resolve({ version: 'unknown', methods: new Set() });
      else reject(convertToCommandError(error));
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
