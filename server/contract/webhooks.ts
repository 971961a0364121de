import { z } from "zod";
import { DateTime, PathId, pageLimit } from "./common";
import { DELIVERY_STATES, EVENT_TYPES, JOB_EVENT_TYPES, REQUEST_EVENT_TYPES } from "./enums";

export const JobEventType = z.enum(JOB_EVENT_TYPES);

export const RequestEventType = z.enum(REQUEST_EVENT_TYPES);
export type RequestEventType = z.output<typeof RequestEventType>;

/** Event types that an endpoint can subscribe to: those of jobs, of capability requests and of the organization. */
export const EventType = z.enum(EVENT_TYPES).meta({ id: "WebhookEventType" });

export const DeliveryState = z.enum(DELIVERY_STATES);
export type DeliveryState = z.output<typeof DeliveryState>;

const Id = z.string().min(1).max(64);
const EndpointUrl = z.string().trim().min(1).max(2048).meta({
  description: "Where events are posted: https, without credentials. Private addresses are rejected.",
});
export const SECRET_PREFIX = "whsec_";
export const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Rejects non-zero bits after the last byte, as strict decoders do (RFC 4648, section 3.5). */
const CANONICAL = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;
const MOST_SECRET = 512;

/**
 * Can Standard Webhooks libraries verify signatures with this secret, and is it too long to guess? It is either in
 * their `whsec_` form, or a text, whose `whsec_` form is returned once on creation.
 */
export function isGoodSecret(secret: string): boolean {
  if (secret.length > 2 * MOST_SECRET) return false; // a character has at most two UTF-16 units
  if (!secret.startsWith(SECRET_PREFIX)) {
    const { length } = [...secret];
    return secret === secret.trim() && length >= 24 && length <= MOST_SECRET;
  }
  const encoded = secret.slice(SECRET_PREFIX.length);
  const bytes = (encoded.length / 4) * 3 - (/=*$/.exec(encoded)?.[0].length ?? 0);
  return CANONICAL.test(encoded) && bytes >= 24 && bytes <= 64;
}

const Secret = z
  .string()
  .refine(
    isGoodSecret,
    "Send whsec_ and the base64 of 24 to 64 bytes, or a text of 24 to 512 characters without blanks at its ends.",
  )
  .meta({
    minLength: 24,
    maxLength: MOST_SECRET,
    description:
      "Signs every delivery. `whsec_` and the base64 of 24 to 64 random bytes, as in Standard Webhooks, or a text of 24 to 512 characters without blanks at its ends, whose UTF-8 bytes are the key. Never returned.",
  });
const EventTypes = z
  .array(EventType)
  .max(EventType.options.length)
  .meta({ description: "The event types to send. An empty list sends all." });

export const CreateDeliveryEndpoint = z
  .strictObject({
    url: EndpointUrl,
    secret: Secret,
    projectId: Id.nullish().meta({
      description:
        "Sends events of this project only. Not needed with a key that is bound to a project. If a person leaves it out, events of the whole organization are sent.",
    }),
    organizationId: Id.nullish().meta({
      description: "For an endpoint of a whole organization, if you belong to several.",
    }),
    eventTypes: EventTypes.nullish(),
    enabled: z.boolean().default(true),
  })
  .meta({ id: "DeliveryEndpointCreate" });
export type CreateDeliveryEndpoint = z.output<typeof CreateDeliveryEndpoint>;

/** Fields that are null or left out stay. */
export const UpdateDeliveryEndpoint = z
  .strictObject({
    url: EndpointUrl.nullish(),
    secret: Secret.nullish(),
    eventTypes: EventTypes.nullish(),
    enabled: z.boolean().nullish(),
  })
  .meta({ id: "DeliveryEndpointUpdate" });
export type UpdateDeliveryEndpoint = z.output<typeof UpdateDeliveryEndpoint>;

export const EndpointRef = z.object({ endpoint_id: PathId });
export const DeliveryRef = z.object({ delivery_id: PathId });

export const DeliveryEndpoint = z
  .object({
    endpointId: z.string(),
    organizationId: z.string(),
    /** Null for events of every project of the organization. */
    projectId: z.string().nullable(),
    url: z.string(),
    eventTypes: z.array(z.string()),
    enabled: z.boolean(),
    /** Why the service disabled the endpoint; null if it did not, or if the endpoint was enabled since. */
    disabledReason: z.string().nullable(),
    weakSecret: z
      .boolean()
      .describe(
        "Its secret would be refused today: receivers may be unable to verify it, or others may guess it. Replace it.",
      ),
    signingSecret: z
      .string()
      .optional()
      .describe("The key as `whsec_` and base64. Only in the answer to a secret that is a text, and once."),
    createdBy: z.string().nullable(),
    createdAt: DateTime,
    updatedAt: DateTime,
  })
  .meta({ id: "DeliveryEndpoint" });
export type DeliveryEndpoint = z.output<typeof DeliveryEndpoint>;

export const DeliveryEndpointList = z
  .object({ items: z.array(DeliveryEndpoint) })
  .meta({ id: "DeliveryEndpointList" });
export type DeliveryEndpointList = z.output<typeof DeliveryEndpointList>;

export const Delivery = z
  .object({
    deliveryId: z.string(),
    endpointId: z.string(),
    projectId: z.string().nullable(),
    jobId: z.string().nullable(),
    /** The `webhook-id` header, the same for every attempt and replay. */
    eventId: z.string(),
    type: z.string(),
    state: DeliveryState,
    attempts: z.int(),
    nextAttemptAt: DateTime.nullable(),
    lastStatus: z.int().nullable(),
    lastError: z.string().nullable(),
    createdAt: DateTime,
    completedAt: DateTime.nullable(),
  })
  .meta({ id: "Delivery" });
export type Delivery = z.output<typeof Delivery>;

export const ListDeliveries = z.object({
  projectId: Id.optional(),
  endpointId: Id.optional(),
  jobId: Id.optional(),
  state: DeliveryState.optional(),
  /** The `nextCursor` of the previous page, a delivery id. */
  cursor: z.string().max(64).optional(),
  limit: pageLimit(200, 50),
});
export type ListDeliveries = z.output<typeof ListDeliveries>;
export const DeliveryPage = z
  .object({ items: z.array(Delivery), nextCursor: z.string().optional() })
  .meta({ id: "DeliveryPage" });
export type DeliveryPage = z.output<typeof DeliveryPage>;

/** A delivery with the body sent and every attempt, for the panel's log. */
export const DeliveryDetail = Delivery.extend({
  /** Null if pruned. */
  body: z.string().nullable(),
  tries: z.array(
    z.object({
      number: z.int(),
      startedAt: DateTime,
      durationMs: z.int(),
      httpStatus: z.int().nullable(),
      error: z.string().nullable(),
    }),
  ),
});
export type DeliveryDetail = z.output<typeof DeliveryDetail>;
