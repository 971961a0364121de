import { z } from "zod";
import { hrefOf, idCursor, placeFields, type SearchParams, singleValues } from "@/components/ui/paging";

const PAGE_SIZE = 25;

const NotificationPlace = z.object(placeFields(idCursor("ntf")));
const MailPlace = z.object(placeFields(idCursor("mail")));
export type ListPlace = z.output<typeof NotificationPlace>;

export const readNotificationPlace = (params: SearchParams): ListPlace =>
  NotificationPlace.parse(singleValues(params));
export const readMailPlace = (params: SearchParams): ListPlace => MailPlace.parse(singleValues(params));

/** The notifications router's query for a page. */
export const toQuery = ({ cursor }: ListPlace) => ({ cursor, limit: PAGE_SIZE });

export const notificationsHref = (place: ListPlace) => hrefOf("/notifications", place);
export const outboxHref = (place: ListPlace) => hrefOf("/operator/outbox", place);
