//! Reading conversations, and the links by which messages can be sent.

use perigee_core::devices::conversation::ConversationMessage;
use perigee_core::id::ConversationMessageId;

use super::links::{Link, links_of};
use super::view::{ConversationList, ConversationView, LinkList, MessageList, MessageView};
use crate::http::prelude::*;
use crate::http::routes::devices::{find_device, find_device_id};

/// The default number of messages in a page.
const PAGE: u32 = 100;

/// The message of a path, if the caller may see its device.
pub(super) async fn find(
    app: &App,
    caller: &Caller,
    id: Option<ConversationMessageId>,
) -> ApiResult<ConversationMessage> {
    let missing = || not_found(Kind::ConversationMessage);
    app.store.find_text(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// List messages of a conversation
///
/// Returns the messages of a device and the messages to the device, newest first, in pages. A device has one
/// conversation, over all its links; the newest 2000 messages are stored. Any user who may see the device may call this
/// operation.
#[utoipa::path(get, path = "/api/devices/{deviceId}/conversation", tag = "conversations", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of messages in a page. Default: 100.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Messages of the conversation, newest first.", body = MessageList)))]
pub async fn list_conversation(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    params: Params,
) -> ApiResult<Response> {
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    let part = params.finish_page("conversation", PAGE)?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_conversation(scope, device, page).await }
    };
    answer_list(&app, &caller, "messages", part, fetch, MessageView::from).await
}

/// List links for messages to a device
///
/// Returns by which links messages can be sent to a device, with the maximum length of a text, and the reason for each
/// link by which none can be sent. Any user who may see the device may call this operation.
#[utoipa::path(get, path = "/api/devices/{deviceId}/conversation/links", tag = "conversations",
    responses((status = 200, description = "Links of the device for messages.", body = LinkList)))]
pub async fn get_conversation_links(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    params: Params,
) -> ApiReply<LinkList> {
    params.finish()?;
    let device = find_device(&app, &caller, device.as_ref()).await?;
    let links = links_of(&app, &caller, &device).await?.iter().map(Link::view).collect();
    let found = app.store.find_conversation(caller.scope(), Some(caller.user_id()), device.id).await?;
    Ok(caller.reply(LinkList { unread: found.map_or(0, |conversation| conversation.unread), links }))
}

/// List conversations
///
/// Returns the conversations with the devices that the caller may see: the newest message of each, and how many texts
/// the caller has not read. Sorted by the ID of the device, in pages. Devices without messages are left out. Any user may
/// call this operation.
#[utoipa::path(get, path = "/api/conversations", tag = "conversations", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of conversations in a page. Default: 100.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Conversations, sorted by device.", body = ConversationList)))]
pub async fn list_conversations(Call(app, caller): Call, params: Params) -> ApiResult<Response> {
    let part = params.finish_page("conversations", PAGE)?;
    let (store, scope, user) = (app.store.clone(), caller.scope(), caller.user_id());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_conversations(scope, Some(user), page).await }
    };
    answer_list(&app, &caller, "conversations", part, fetch, ConversationView::from).await
}

/// Retrieve a message of a conversation
///
/// Returns a message with its state. Any user who may see the device may call this operation.
#[utoipa::path(get, path = "/api/conversationMessages/{conversationMessageId}", tag = "conversations",
    responses((status = 200, description = "The message with this ID.", body = MessageView)))]
pub async fn get_conversation_message(
    Call(app, caller): Call,
    IdPath(id): IdPath<ConversationMessageId>,
    params: Params,
) -> ApiReply<MessageView> {
    params.finish()?;
    let message = find(&app, &caller, id).await?;
    Ok(caller.reply(MessageView::from(message)))
}
