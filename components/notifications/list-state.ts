import { idOf, listState } from "@/components/blocks/list/list-state";
import { hrefOf } from "@/components/ui/paging";

const PAGE_SIZE = 25;

export const { read: readNotificationPlace } = listState({}, idOf("ntf"));
export const { read: readMailPlace } = listState({}, idOf("mail"));
export type NotificationListPosition = ReturnType<typeof readNotificationPlace>;

/** The notifications router's query for a page. */
export const toQuery = ({ cursor }: NotificationListPosition) => ({ cursor, limit: PAGE_SIZE });

export const notificationsHref = (place: NotificationListPosition) => hrefOf("/notifications", place);
export const outboxHref = (place: NotificationListPosition) => hrefOf("/operator/outbox", place);
