// The messages in English, by area.
import account from './en/account.json'
import alerts from './en/alerts.json'
import common from './en/common.json'
import developer from './en/developer.json'
import device from './en/device.json'
import devices from './en/devices.json'
import drivers from './en/drivers.json'
import form from './en/form.json'
import geofences from './en/geofences.json'
import groups from './en/groups.json'
import history from './en/history.json'
import maintenance from './en/maintenance.json'
import map from './en/map.json'
import notifications from './en/notifications.json'
import operator from './en/operator.json'
import plans from './en/plans.json'
import reports from './en/reports.json'
import rules from './en/rules.json'
import settings from './en/settings.json'
import share from './en/share.json'
import shared from './en/shared.json'
import signin from './en/signin.json'
import sources from './en/sources.json'
import users from './en/users.json'
import welcome from './en/welcome.json'

export default {
  account,
  alerts,
  common,
  developer,
  device,
  devices,
  drivers,
  form,
  geofences,
  groups,
  history,
  maintenance,
  map,
  notifications,
  operator,
  plans,
  reports,
  rules,
  settings,
  share,
  shared,
  signin,
  sources,
  users,
  welcome
}
