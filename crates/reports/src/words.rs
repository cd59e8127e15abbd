//! The words of reports in English and Spanish. Reports in other languages are in English.

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::alerts::severity::Severity;
use perigee_core::devices::device::DeviceStatus;
use perigee_core::drivers::DriverSource;
use perigee_core::maintenance::DueState;
use perigee_core::timeline::{DistanceSource, SegmentKind};

use crate::column::Column;
use crate::kind::ReportKind;

/// The language of a report for a reader of this one: English unless there are words in it.
pub const fn written_language(language: ConsoleLanguage) -> ConsoleLanguage {
    match language {
        ConsoleLanguage::Spanish => ConsoleLanguage::Spanish,
        _ => ConsoleLanguage::English,
    }
}

const fn pick(language: ConsoleLanguage, (english, spanish): (&'static str, &'static str)) -> &'static str {
    match language {
        ConsoleLanguage::Spanish => spanish,
        _ => english,
    }
}

pub(crate) const fn title(column: Column, language: ConsoleLanguage) -> &'static str {
    let words = match column {
        Column::Device => ("Device", "Dispositivo"),
        Column::DeviceId => ("Device ID", "ID del dispositivo"),
        Column::Group => ("Group", "Grupo"),
        Column::GroupId => ("Group ID", "ID del grupo"),
        Column::SegmentId => ("Segment ID", "ID del tramo"),
        Column::Kind => ("Kind", "Tipo"),
        Column::Date => ("Date", "Fecha"),
        Column::Month => ("Month", "Mes"),
        Column::From => ("From", "Desde"),
        Column::To => ("To", "Hasta"),
        Column::Duration => ("Duration", "Duración"),
        Column::StartPlace => ("Start", "Inicio"),
        Column::EndPlace => ("End", "Fin"),
        Column::Place => ("Place", "Lugar"),
        Column::StartLatitude => ("Start latitude", "Latitud inicial"),
        Column::StartLongitude => ("Start longitude", "Longitud inicial"),
        Column::EndLatitude => ("End latitude", "Latitud final"),
        Column::EndLongitude => ("End longitude", "Longitud final"),
        Column::Distance => ("Distance", "Distancia"),
        Column::DistanceSource => ("Distance from", "Origen de la distancia"),
        Column::Moving => ("Moving", "En marcha"),
        Column::Standing => ("Standing", "Parado"),
        Column::Idling => ("Idling", "Ralentí"),
        Column::Engine => ("Engine on", "Motor en marcha"),
        Column::MaxSpeed => ("Top speed", "Velocidad máxima"),
        Column::AverageSpeed => ("Average speed", "Velocidad media"),
        Column::FuelUsed => ("Fuel used", "Combustible usado"),
        Column::Name => ("Name", "Nombre"),
        Column::Purpose => ("Purpose", "Motivo"),
        Column::Note => ("Note", "Nota"),
        Column::Driver => ("Driver", "Conductor"),
        Column::DriverId => ("Driver ID", "ID del conductor"),
        Column::DriverSource => ("Driver from", "Origen del conductor"),
        Column::DriverTag => ("Driver tag", "Llave del conductor"),
        Column::Trips => ("Trips", "Viajes"),
        Column::Stops => ("Stops", "Paradas"),
        Column::FirstDeparture => ("First departure", "Primera salida"),
        Column::LastArrival => ("Last arrival", "Última llegada"),
        Column::GapTime => ("Time in gaps", "Tiempo sin datos"),
        Column::GapDistance => ("Distance in gaps", "Distancia sin datos"),
        Column::Time => ("Time", "Hora"),
        Column::Alert => ("Alert", "Alerta"),
        Column::AlertId => ("Alert ID", "ID de la alerta"),
        Column::Text => ("Text", "Texto"),
        Column::Severity => ("Severity", "Gravedad"),
        Column::AcknowledgedAt => ("Acknowledged", "Confirmada"),
        Column::AcknowledgedBy => ("Acknowledged by", "Confirmada por"),
        Column::ResponseTime => ("Response time", "Tiempo de respuesta"),
        Column::EndedAt => ("Ended", "Terminada"),
        Column::Latitude => ("Latitude", "Latitud"),
        Column::Longitude => ("Longitude", "Longitud"),
        Column::Identifier => ("Identifier", "Identificador"),
        Column::Model => ("Model", "Modelo"),
        Column::Protocol => ("Protocol", "Protocolo"),
        Column::Status => ("Status", "Estado"),
        Column::LastSeen => ("Last heard", "Última señal"),
        Column::Silence => ("Silent for", "En silencio"),
        Column::ExpectedInterval => ("Expected interval", "Intervalo esperado"),
        Column::LastPosition => ("Last position", "Última posición"),
        Column::Battery => ("Battery", "Batería"),
        Column::Channel => ("Channel", "Canal"),
        Column::Sent => ("Sent", "Enviados"),
        Column::Failed => ("Failed", "Fallidos"),
        Column::Suppressed => ("Suppressed", "Suprimidos"),
        Column::CostUnits => ("Cost units", "Unidades de coste"),
        Column::Cost => ("Cost", "Coste"),
        Column::Currency => ("Currency", "Moneda"),
        Column::Geofence => ("Geofence", "Geocerca"),
        Column::GeofenceId => ("Geofence ID", "ID de la geocerca"),
        Column::Entry => ("Entry", "Entrada"),
        Column::Exit => ("Exit", "Salida"),
        Column::Maintenance => ("Maintenance", "Mantenimiento"),
        Column::MaintenanceId => ("Maintenance ID", "ID del mantenimiento"),
        Column::UsedShare => ("Used", "Usado"),
        Column::DueDate => ("Due on", "Vence el"),
        Column::EstimatedDate => ("Probably due on", "Vencimiento estimado"),
        Column::DaysLeft => ("Days left", "Días restantes"),
        Column::DistanceLeft => ("Distance left", "Distancia restante"),
        Column::EngineLeft => ("Engine time left", "Tiempo de motor restante"),
        Column::LastDone => ("Last done", "Última vez"),
        Column::DistanceSince => ("Distance since", "Distancia desde entonces"),
        Column::EngineSince => ("Engine on since", "Motor en marcha desde entonces"),
        Column::Odometer => ("Odometer", "Odómetro"),
        Column::HourMeter => ("Hour meter", "Cuentahoras"),
    };
    pick(language, words)
}

pub(crate) const fn kind_title(kind: ReportKind, language: ConsoleLanguage) -> &'static str {
    let words = match kind {
        ReportKind::Trips => ("Trips", "Viajes"),
        ReportKind::Stops => ("Stops", "Paradas"),
        ReportKind::Timeline => ("Timeline by day", "Cronología por día"),
        ReportKind::Totals => ("Totals", "Totales"),
        ReportKind::Mileage => ("Mileage by month", "Kilometraje por mes"),
        ReportKind::Idling => ("Idling", "Ralentí"),
        ReportKind::EngineHours => ("Engine hours", "Horas de motor"),
        ReportKind::Alerts => ("Alerts", "Alertas"),
        ReportKind::DeviceHealth => ("Device health", "Estado de los dispositivos"),
        ReportKind::Messages => ("Messages sent", "Mensajes enviados"),
        ReportKind::Visits => ("Visits to geofences", "Visitas a geocercas"),
        ReportKind::Maintenance => ("Maintenance", "Mantenimiento"),
    };
    pick(language, words)
}

pub(crate) const fn segment_kind(kind: SegmentKind, language: ConsoleLanguage) -> &'static str {
    let words = match kind {
        SegmentKind::Trip => ("Trip", "Viaje"),
        SegmentKind::Stop => ("Stop", "Parada"),
        SegmentKind::Gap => ("Gap", "Sin datos"),
    };
    pick(language, words)
}

pub(crate) const fn distance_source(source: DistanceSource, language: ConsoleLanguage) -> &'static str {
    let words = match source {
        DistanceSource::Legs => ("Positions", "Posiciones"),
        DistanceSource::Mileage => ("Odometer", "Odómetro"),
        DistanceSource::Straight => ("Straight line", "Línea recta"),
    };
    pick(language, words)
}

pub(crate) const fn severity(severity: Severity, language: ConsoleLanguage) -> &'static str {
    let words = match severity {
        Severity::Info => ("Info", "Información"),
        Severity::Warning => ("Warning", "Aviso"),
        Severity::Critical => ("Critical", "Crítica"),
    };
    pick(language, words)
}

pub(crate) const fn status(status: DeviceStatus, language: ConsoleLanguage) -> &'static str {
    let words = match status {
        DeviceStatus::Online => ("Online", "En línea"),
        DeviceStatus::Late => ("Late", "Con retraso"),
        DeviceStatus::Offline => ("Offline", "Sin conexión"),
        DeviceStatus::Never => ("Never heard", "Nunca recibido"),
    };
    pick(language, words)
}

pub(crate) const fn due_state(state: DueState, language: ConsoleLanguage) -> &'static str {
    let words = match state {
        DueState::Ok => ("Not due", "No vencido"),
        DueState::Soon => ("Due soon", "Vence pronto"),
        DueState::Due => ("Due", "Vencido"),
    };
    pick(language, words)
}

/// Words around the table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    Totals,
    Rows,
    Total,
    Period,
    TimeZone,
    Account,
    Created,
    Map,
}

pub(crate) const fn word(word: Word, language: ConsoleLanguage) -> &'static str {
    let words = match word {
        Word::Totals => ("Totals", "Totales"),
        Word::Rows => ("Rows", "Filas"),
        Word::Total => ("Total", "Total"),
        Word::Period => ("Period", "Periodo"),
        Word::TimeZone => ("Time zone", "Zona horaria"),
        Word::Account => ("Account", "Cuenta"),
        Word::Created => ("Created", "Creado"),
        Word::Map => (
            "Trips as straight lines, from green to red; north is up",
            "Viajes en línea recta, de verde a rojo; el norte está arriba",
        ),
    };
    pick(language, words)
}

pub(crate) const fn driver_source(source: DriverSource, language: ConsoleLanguage) -> &'static str {
    let words = match source {
        DriverSource::Manual => ("By hand", "A mano"),
        DriverSource::Tag => ("Key tag", "Llave"),
        DriverSource::Assignment => ("Assignment", "Asignación"),
    };
    pick(language, words)
}
