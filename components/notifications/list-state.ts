import { z } from "zod";
import { hrefOf, type SearchParams, singleValues } from "@/components/ui/paging";

const PAGE_SIZE = 25;

/** The place in a list read by cursor, as its address carries it. What is no cursor of it counts as absent. */
const placeOf = (id: RegExp) =>
  z.object({
    cursor: z.string().regex(id).optional().catch(undefined),
    trail: z.string().max(2_000).optional().catch(undefined),
  });
const NotificationPlace = placeOf(/^ntf_[0-9a-hjkmnp-tv-z]{26}$/);
const MailPlace = placeOf(/^mail_[0-9a-hjkmnp-tv-z]{26}$/);
export type ListPlace = z.output<typeof NotificationPlace>;

export const readNotificationPlace = (params: SearchParams): ListPlace =>
  NotificationPlace.parse(singleValues(params));
export const readMailPlace = (params: SearchParams): ListPlace => MailPlace.parse(singleValues(params));

/** The query of a place, as the notifications router takes it. */
export const toQuery = ({ cursor }: ListPlace) => ({ cursor, limit: PAGE_SIZE });

export const notificationsHref = (place: ListPlace) => hrefOf("/notifications", place);
export const outboxHref = (place: ListPlace) => hrefOf("/operator/outbox", place);
