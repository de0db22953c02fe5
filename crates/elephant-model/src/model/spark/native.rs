//! Engines that run operators of Spark SQL outside the JVM: one row for each, with the settings that switch it on.

use crate::model::Application;

/// An engine that works on columns in native memory or on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeEngine {
    /// Databricks.
    Photon,
    /// NVIDIA's accelerator for GPUs.
    Rapids,
    /// Apache Gluten, with Velox or ClickHouse.
    Gluten,
    /// Apache DataFusion Comet.
    Comet,
    /// The native execution engine of Microsoft Fabric.
    Fabric,
}

/// How an engine is recognised.
struct Row {
    engine: NativeEngine,
    /// A setting and a part of its value, in lower case; one of these switches the engine on.
    on: &'static [(&'static str, &'static str)],
    /// A setting and a value that leaves it off all the same.
    off: &'static [(&'static str, &'static str)],
}

const ROWS: [Row; 5] = [
    Row {
        engine: NativeEngine::Photon,
        on: &[
            ("spark.databricks.clusterUsageTags.runtimeEngine", "photon"),
            ("spark.databricks.clusterUsageTags.sparkVersion", "-photon-"),
            ("spark.databricks.photon.enabled", "true"),
        ],
        off: &[("spark.databricks.photon.enabled", "false")],
    },
    Row {
        engine: NativeEngine::Rapids,
        on: &[("spark.plugins", "com.nvidia.spark.sqlplugin")],
        off: &[("spark.rapids.sql.enabled", "false"), ("spark.rapids.sql.mode", "explainonly")],
    },
    Row {
        engine: NativeEngine::Gluten,
        on: &[("spark.plugins", "glutenplugin")],
        off: &[("spark.gluten.enabled", "false")],
    },
    Row {
        engine: NativeEngine::Comet,
        on: &[("spark.plugins", "cometplugin"), ("spark.sql.extensions", "cometsparksessionextensions")],
        off: &[("spark.comet.enabled", "false"), ("spark.comet.exec.enabled", "false")],
    },
    Row { engine: NativeEngine::Fabric, on: &[("spark.native.enabled", "true")], off: &[] },
];

#[doc(hidden)]
impl NativeEngine {
    /// The engine that the settings switch on.
    #[must_use]
    pub fn of(app: &Application) -> Option<Self> {
        let value = |name: &str| app.conf.raw(name).map(|value| value.trim().to_ascii_lowercase());
        let has = |(name, part): &(&str, &str)| value(name).is_some_and(|value| value.contains(part));
        let is = |(name, off): &(&str, &str)| value(name).as_deref() == Some(*off);
        let row = ROWS.iter().find(|row| row.on.iter().any(has) && !row.off.iter().any(is))?;
        Some(row.engine)
    }

    /// The engine, if there is SQL for it to run: the tasks of RDDs always run in the JVM.
    #[must_use]
    pub fn at_work(app: &Application) -> Option<Self> {
        let runs_sql = app.spark.as_deref().is_some_and(|spark| !spark.sql.is_empty());
        Self::of(app).filter(|_| runs_sql)
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Photon => "Photon",
            Self::Rapids => "RAPIDS",
            Self::Gluten => "Gluten",
            Self::Comet => "Comet",
            Self::Fabric => "Fabric native execution engine",
        }
    }

    /// The engine with this name in JSON.
    #[must_use]
    pub fn with_key(key: &str) -> Option<Self> {
        ROWS.iter().map(|row| row.engine).find(|engine| engine.key() == key)
    }

    /// Its name in JSON.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Photon => "photon",
            Self::Rapids => "rapids",
            Self::Gluten => "gluten",
            Self::Comet => "comet",
            Self::Fabric => "fabric-native",
        }
    }

    /// Why rules on heaps and their collections are not evaluated.
    #[must_use]
    pub fn why_not_judged(self) -> String {
        let place = if self == Self::Rapids { "on the GPU and outside the heap" } else { "outside the heap" };
        format!("{} keeps its data {place}, so the heap does not show what tasks need", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Engine;
    use crate::model::conf::Property;
    use crate::model::spark::{Spark, SqlExecution};

    fn app(settings: &[(&str, &str)]) -> Application {
        let mut app = Application::new(Engine::Spark);
        for (name, value) in settings {
            let property = Property { value: (*value).to_owned(), is_final: false };
            app.conf.insert((*name).to_owned(), property);
        }
        app.spark = Some(Box::default());
        app
    }

    #[test]
    fn settings_name_the_engine() {
        use NativeEngine as Native;
        let rapids = ("spark.plugins", "com.nvidia.spark.SQLPlugin");
        for (settings, engine) in [
            (&[][..], None),
            (&[("spark.databricks.clusterUsageTags.runtimeEngine", "PHOTON")], Some(Native::Photon)),
            (&[("spark.databricks.clusterUsageTags.runtimeEngine", "STANDARD")], None),
            (
                &[("spark.databricks.clusterUsageTags.sparkVersion", "13.3.x-photon-scala2.12")],
                Some(Native::Photon),
            ),
            (&[rapids], Some(Native::Rapids)),
            (&[rapids, ("spark.rapids.sql.enabled", "false")], None),
            (&[rapids, ("spark.rapids.sql.mode", "explainOnly")], None),
            (&[("spark.plugins", "io.glutenproject.GlutenPlugin")], Some(Native::Gluten)),
            (&[("spark.plugins", "a.B,org.apache.gluten.GlutenPlugin")], Some(Native::Gluten)),
            (&[("spark.plugins", "org.apache.spark.CometPlugin")], Some(Native::Comet)),
            (
                &[("spark.sql.extensions", "org.apache.comet.CometSparkSessionExtensions")],
                Some(Native::Comet),
            ),
            (&[("spark.plugins", "org.apache.spark.CometPlugin"), ("spark.comet.enabled", "false")], None),
            (&[("spark.native.enabled", "true")], Some(Native::Fabric)),
            (&[("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")], None),
        ] {
            assert_eq!(NativeEngine::of(&app(settings)), engine, "{settings:?}");
        }
    }

    #[test]
    fn without_sql_the_jvm_does_the_work() {
        let mut app = app(&[("spark.plugins", "com.nvidia.spark.SQLPlugin")]);
        assert_eq!(NativeEngine::at_work(&app), None);
        app.spark = Some(Box::new(Spark { sql: vec![SqlExecution::new(0)], ..Spark::default() }));
        let engine = NativeEngine::at_work(&app).unwrap();
        assert_eq!(
            engine.why_not_judged(),
            "RAPIDS keeps its data on the GPU and outside the heap, so the heap does not show what tasks need"
        );
    }
}
