//! Which frames are of frameworks, not of the user's own code.

/// Packages of the JVM, of Scala, of Spark, Hadoop and of the libraries that they call.
const PACKAGES: [&str; 61] = [
    "java.",
    "javax.",
    "jakarta.",
    "jdk.",
    "sun.",
    "com.sun.",
    "oracle.",
    "scala.",
    "kotlin.",
    "groovy.",
    "clojure.",
    "org.apache.",
    "io.netty.",
    "io.delta.",
    "io.vertx.",
    "io.grpc.",
    "io.airlift.",
    "io.trino.",
    "io.prestosql.",
    "org.eclipse.jetty.",
    "org.spark_project.",
    "org.sparkproject.",
    "org.mortbay.",
    "org.jboss.",
    "org.glassfish.",
    "org.codehaus.",
    "org.slf4j.",
    "org.antlr.",
    "org.json4s.",
    "org.datanucleus.",
    "org.xerial.",
    "org.springframework.",
    "org.postgresql.",
    "org.mariadb.",
    "org.objenesis.",
    "org.rocksdb.",
    "org.roaringbitmap.",
    "org.reactivestreams.",
    "com.google.",
    "com.fasterxml.",
    "com.esotericsoftware.",
    "com.twitter.chill.",
    "com.amazonaws.",
    "com.amazon.ws.",
    "com.azure.",
    "com.microsoft.azure.",
    "com.databricks.",
    "com.mysql.",
    "com.microsoft.sqlserver.",
    "com.cloudera.",
    "com.hortonworks.",
    "com.mapr.",
    "com.zaxxer.",
    "com.github.luben.",
    "net.jpountz.",
    "net.razorvine.",
    "software.amazon.",
    "ch.qos.",
    "py4j.",
    "azkaban.",
    "reactor.",
];

/// Parts of the paths of Python's own files and of installed packages.
const FOLDERS: [&str; 8] = [
    "/site-packages/",
    "/dist-packages/",
    "/pyspark.zip/",
    "/pyspark/",
    "/py4j",
    "/lib/python",
    "/lib64/python",
    "<frozen",
];

/// Whether a method is of a framework or of the platform.
pub(crate) fn is_framework(method: &str) -> bool {
    // Methods that are generated at run time have no package of their own.
    !method.contains('.') || PACKAGES.iter().any(|package| method.starts_with(package))
}

/// Whether a Python file is of a framework.
pub(crate) fn is_python_framework(path: &str) -> bool {
    let path = path.replace('\\', "/");
    FOLDERS.iter().any(|folder| path.contains(folder))
}
