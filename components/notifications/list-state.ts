import { idOf, listState } from "@/components/blocks/list/list-state";
import { hrefOf } from "@/components/ui/paging";

const PAGE_SIZE = 25;

export const { read: readNotificationPlace } = listState({}, idOf("ntf"));
export const { read: readMailPlace } = listState({}, idOf("mail"));
export type ListPlace = ReturnType<typeof readNotificationPlace>;

/** The notifications router's query for a page. */
export const toQuery = ({ cursor }: ListPlace) => ({ cursor, limit: PAGE_SIZE });

export const notificationsHref = (place: ListPlace) => hrefOf("/notifications", place);
export const outboxHref = (place: ListPlace) => hrefOf("/operator/outbox", place);
