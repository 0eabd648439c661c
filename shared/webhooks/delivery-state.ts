/**
 * States of a delivery. `waiting`: not sent yet, or to be repeated. `parked`: not sent until a replay. `elsewhere`: delivered by another
 * process.
 */
export const DELIVERY_STATES = ['waiting', 'delivered', 'parked', 'elsewhere'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Maximum number of deliveries in a list. */
export const MOST_LISTED = 1_000;
