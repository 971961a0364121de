import { Badge } from "@/components/ui/badge";

/** The name of money that only the sandbox accepts: the test wallet and its allowance. */
export const TEST_MONEY = "test money";

export const TestMoneyBadge = () => <Badge>Test money</Badge>;
