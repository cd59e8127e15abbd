//! Conversations with devices: texts in both directions, and what users have read. Every new message and every change
//! of a state appends an event.

mod end;
mod read;
mod receive;
mod row;
mod send;
mod unread;
mod work;

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::devices::conversation::{
    Conversation, ConversationMessage, NewOutgoing, OutgoingText, TextEnd,
};
use perigee_core::id::{ConversationMessageId, DeviceId, UserId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::Conversations;

use crate::forward::forward;

pub(in crate::sql) use end::follow;
pub(in crate::sql) use read::find_many;
pub(in crate::sql) use receive::receive;
pub(in crate::sql) use send::send;

forward! {
    impl Conversations for Database {
        write send_texts(
            &self, &actor: Actor, device: DeviceId, new: Vec<NewOutgoing>, once: Option<IdempotencyKey>
        ) -> Created<Vec<ConversationMessage>> = send::send;
        read list_conversation(&self, scope: Scope, device: DeviceId, page: PageRequest)
            -> Page<ConversationMessage> = read::list;
        read find_text(&self, scope: Scope, id: ConversationMessageId) -> Option<ConversationMessage> = read::find;
        write cancel_text(&self, &actor: Actor, id: ConversationMessageId) -> ConversationMessage = end::cancel;
        read list_conversations(&self, scope: Scope, user: Option<UserId>, page: PageRequest)
            -> Page<Conversation> = unread::list_conversations;
        read find_conversation(&self, scope: Scope, user: Option<UserId>, device: DeviceId)
            -> Option<Conversation> = unread::find_conversation;
        write mark_conversation_read(&self, &actor: Actor, device: DeviceId, up_to: Option<ConversationMessageId>)
            -> u64 = unread::mark_read;
        run lease_texts(&self, limit: u32, lease_ms: i64) -> Vec<OutgoingText> = work::lease;
        write settle_text(&self, &leased: OutgoingText, end: TextEnd) -> bool = work::settle;
        run end_overdue_texts(&self, limit: u32) -> u32 = work::end_overdue;
    }
}
